package task

import (
	"cmp"
	"math"
)

// Output names a number that an evaluation measures.
type Output string

const (
	// Objective is the output that Goal is about. Constraints have names.
	Objective Output = ""
	// Completion is whether an evaluation completes: 1, or 0 when it fails. No
	// constraint of a task file can have its name.
	Completion Output = "(completion)"
)

// Outputs lists the objective and then the output of each of Bounds.
func (t *Task) Outputs() []Output {
	outputs := []Output{Objective}
	for _, c := range t.Bounds() {
		outputs = append(outputs, c.Output)
	}
	return outputs
}

// Measurement is what one evaluation measured.
type Measurement interface {
	// Measured returns the value of an output, finite and in the output's own units;
	// false when it was not measured.
	Measured(output Output) (value float64, ok bool)
}

// Feasible reports whether a measurement keeps all constraints. Without constraints
// everything is feasible.
func (t *Task) Feasible(m Measurement) bool { return t.Violation(m) == 0 }

// Violation says how far a measurement is from being feasible: 0 when it is, else the
// sum of the constraints' [Constraint.Violation].
func (t *Task) Violation(m Measurement) float64 {
	sum := 0.0
	for _, c := range t.Constraints {
		value, ok := m.Measured(c.Output)
		if !ok {
			value = math.NaN()
		}
		sum += c.Violation(value)
	}
	return sum
}

// Violated lists the outputs of the constraints that a measurement violates.
func (t *Task) Violated(m Measurement) (outputs []Output) {
	for _, c := range t.Constraints {
		if value, ok := m.Measured(c.Output); !ok || !c.Keeps(value) {
			outputs = append(outputs, c.Output)
		}
	}
	return outputs
}

// Compare returns 1 when a is better than b, -1 when it is worse, and 0 when the task
// prefers neither: feasible ones come first, then those of smaller violation, then
// the objective decides by the task's goal (Deb, "An efficient constraint handling
// method for genetic algorithms", 2000, section 3). A measurement without the
// objective is the worst of its violation.
func (t *Task) Compare(a, b Measurement) int {
	return cmp.Or(cmp.Compare(t.Violation(b), t.Violation(a)), cmp.Compare(t.score(a), t.score(b)))
}

// Better reports whether a is better than b: see Compare.
func (t *Task) Better(a, b Measurement) bool { return t.Compare(a, b) > 0 }

// score is the objective's value, larger being better.
func (t *Task) score(m Measurement) float64 {
	value, ok := m.Measured(Objective)
	if !ok {
		return math.Inf(-1)
	}
	return t.Goal.Sign() * value
}
