package task

import (
	"cmp"
	"math"
	"slices"
)

// Output names a number that an evaluation measures.
type Output string

// Objective is the output that Goal is about. Every other output has a name.
const Objective Output = ""

// Side says on which side of a limit values are allowed. The limit itself always is.
type Side string

// The sides of a limit.
const (
	AtMost  Side = "at_most"
	AtLeast Side = "at_least"
)

// Bound is a condition on an output: a design that breaks one is infeasible.
type Bound struct {
	Output Output
	Side   Side
	Limit  float64 // finite, in the output's own units
}

// Keeps tells whether the value is allowed.
func (b Bound) Keeps(value float64) bool {
	if b.Side == AtLeast {
		return value >= b.Limit
	}
	return value <= b.Limit
}

// Outputs lists the objective and then every bounded output once, in order of Bounds.
func (t *Task) Outputs() []Output {
	outputs := []Output{Objective}
	for _, b := range t.Bounds {
		if !slices.Contains(outputs, b.Output) {
			outputs = append(outputs, b.Output)
		}
	}
	return outputs
}

// Measurement is what one evaluation measured.
type Measurement interface {
	// Measured returns the value of an output, finite and in the output's own units;
	// false when it was not measured.
	Measured(output Output) (value float64, ok bool)
}

// Feasibility says whether a measurement keeps the bounds of its task.
type Feasibility int

// Feasibilities, the worst first.
const (
	Infeasible         Feasibility = iota // a measured output breaks a bound
	FeasibilityUnknown                    // none does, but a bounded output was not measured
	Feasible                              // all bounds are kept
)

// Feasibility judges a measurement by the task's bounds. Without bounds everything is
// feasible.
func (t *Task) Feasibility(m Measurement) Feasibility {
	feasibility := Feasible
	for _, b := range t.Bounds {
		switch value, ok := m.Measured(b.Output); {
		case !ok:
			feasibility = FeasibilityUnknown
		case !b.Keeps(value):
			return Infeasible
		}
	}
	return feasibility
}

// Compare returns 1 when a is better than b, -1 when it is worse, and 0 when the task
// prefers neither. Feasibility comes first, then the objective by the task's goal: a
// measurement that may be infeasible is not preferred to a feasible one, nor an
// infeasible one to any other. How far a bound is broken does not count, since
// outputs have no common unit. A measurement without the objective is the worst of its
// feasibility.
func (t *Task) Compare(a, b Measurement) int {
	return cmp.Or(cmp.Compare(t.Feasibility(a), t.Feasibility(b)), cmp.Compare(t.merit(a), t.merit(b)))
}

// Better tells whether a is better than b: see Compare.
func (t *Task) Better(a, b Measurement) bool { return t.Compare(a, b) > 0 }

// merit is the objective's value, larger being better.
func (t *Task) merit(m Measurement) float64 {
	value, ok := m.Measured(Objective)
	if !ok {
		return math.Inf(-1)
	}
	return t.Goal.Sign() * value
}
