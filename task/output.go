package task

import (
	"cmp"
	"math"
)

// Output is the name of a number that an evaluation measures.
type Output string

const (
	// Objective is the output to which Goal applies. It has the empty name, unlike the outputs of
	// constraints.
	Objective Output = ""
	// Completion is 1 if an evaluation completes and 0 if it fails. No constraint of a task
	// file can have this name.
	Completion Output = "(completion)"
	// Cost is the logarithm of the cost of an evaluation. No constraint of a task file can have this
	// name.
	Cost Output = "(cost)"
)

// Outputs returns the objective, followed by the outputs of Bounds.
func (t *Task) Outputs() []Output {
	outputs := []Output{Objective}
	for _, c := range t.Bounds() {
		outputs = append(outputs, c.Output)
	}
	return outputs
}

// Measurement holds the measured outputs of one evaluation.
type Measurement interface {
	// Measured returns the value of an output, which is finite and in the output's own units; ok is
	// false if it was not measured.
	Measured(output Output) (value float64, ok bool)
}

// Feasible reports whether a measurement satisfies all constraints. Without constraints every
// measurement is feasible.
func (t *Task) Feasible(m Measurement) bool { return t.Violation(m) == 0 }

// Violation returns the distance of a measurement from feasibility: the sum of
// [Constraint.Violation] over all constraints. It is 0 for a feasible measurement. An output that
// was not measured counts as NaN.
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

// Violated returns the outputs of the constraints that a measurement violates. An output that was
// not measured violates its constraint.
func (t *Task) Violated(m Measurement) (outputs []Output) {
	for _, c := range t.Constraints {
		if value, ok := m.Measured(c.Output); !ok || !c.Keeps(value) {
			outputs = append(outputs, c.Output)
		}
	}
	return outputs
}

// Compare returns 1 if a is better than b, -1 if it is worse, and 0 if the task prefers neither.
// Feasible measurements are better than infeasible ones, and a smaller violation is better than a
// larger one. For equal violations the objective decides by the task's goal. This is the order of
// Deb, "An efficient constraint handling method for genetic algorithms", 2000, section 3. A
// measurement without the objective is the worst among those of equal violation.
func (t *Task) Compare(a, b Measurement) int {
	return cmp.Or(cmp.Compare(t.Violation(b), t.Violation(a)), cmp.Compare(t.score(a), t.score(b)))
}

// Better reports whether a is better than b in the order of Compare.
func (t *Task) Better(a, b Measurement) bool { return t.Compare(a, b) > 0 }

// score returns the objective's value, negated if the goal is to minimise, so that larger is
// better. Without the objective it is -Inf.
func (t *Task) score(m Measurement) float64 {
	value, ok := m.Measured(Objective)
	if !ok {
		return math.Inf(-1)
	}
	return t.Goal.Sign() * value
}
