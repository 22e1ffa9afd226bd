package task

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/internal/sanitize"
)

const maxConstraints = 16

// numeric is the value of the key type for a constraint with limits.
const numeric = "number"

// Constraint is a condition on an output other than the objective. A design that violates a
// constraint is infeasible.
type Constraint struct {
	Output Output // [A-Za-z][A-Za-z0-9_]*, at most 64 characters
	// Low and High are the smallest and the largest value that satisfy the constraint, in the
	// output's own units. One of them may be infinite.
	Low, High float64
	// Truth is set if the output is a truth value instead of a number; true satisfies the
	// constraint. True counts as 1 and false as 0; Low and High are 1 and +Inf.
	Truth bool
}

// TruthOf returns the constraint that requires an output to be true.
func TruthOf(output Output) Constraint {
	return Constraint{Output: output, Low: 1, High: math.Inf(1), Truth: true}
}

// Keeps reports whether the value satisfies the constraint; NaN does not.
func (c Constraint) Keeps(value float64) bool { return c.Low <= value && value <= c.High }

// Violation returns by how much a value violates the constraint, and 0 if it satisfies it. Since
// outputs have no common unit, violations are divided by the width of the allowed interval. With
// only one limit they are divided by its absolute value, or by 1 if the limit is 0. The violation
// of NaN is 1.
func (c Constraint) Violation(value float64) float64 {
	switch {
	case c.Keeps(value):
		return 0
	case math.IsNaN(value):
		return 1
	}
	over, unit := max(c.Low-value, value-c.High), c.High-c.Low
	if math.IsInf(unit, 0) {
		unit = math.Abs(c.Low)
		if math.IsInf(unit, 0) {
			unit = math.Abs(c.High)
		}
	}
	if !(unit > 0) {
		unit = 1
	}
	// The ratio may underflow, or overflow, if limits are near the ends of the range of floats.
	return min(max(over/unit, math.SmallestNonzeroFloat64), math.MaxFloat64/(2*maxConstraints))
}

// String returns the condition on the value, such as "at most 10" or "true".
func (c Constraint) String() string {
	if c.Truth {
		return "true"
	}
	low, high := formatFloat(c.Low), formatFloat(c.High)
	switch {
	case math.IsInf(c.Low, 0):
		return "at most " + high
	case math.IsInf(c.High, 0):
		return "at least " + low
	}
	return low + " to " + high
}

// takes returns an error message if a reading has the wrong type for the constraint, and otherwise
// "".
func (c Constraint) takes(reading Reading) string {
	switch {
	case c.Truth && !reading.IsTruth():
		return fmt.Sprintf("%s, expected true and false", reading)
	case !c.Truth && reading.IsTruth():
		return fmt.Sprintf("%s, expected a number (%s keeps it)", reading, c)
	}
	return ""
}

// Constrained reports whether designs can be infeasible: the task has constraints, or its key
// failures is "constraint", so that a failed evaluation is a violation.
func (t *Task) Constrained() bool { return len(t.Bounds()) > 0 }

// Bounds returns all conditions on outputs that a search must consider: the constraints and, if
// failures count as violations (ConstrainFailures), the condition that the evaluation completes.
func (t *Task) Bounds() []Constraint {
	if t.Failures != ConstrainFailures {
		return t.Constraints
	}
	return append(slices.Clone(t.Constraints), TruthOf(Completion))
}

// CheckReadings returns an error if an evaluation's readings do not match the task. A task with
// constraints requires a reading of each and accepts no other readings. A task without constraints
// accepts any.
func (t *Task) CheckReadings(readings map[string]Reading) error {
	for _, name := range sortedKeys(readings) {
		if math.IsNaN(readings[name].Float()) || math.IsInf(readings[name].Float(), 0) {
			return fmt.Errorf("constraint %s is %s, not a finite number", quote(name), readings[name])
		}
	}
	if len(t.Constraints) == 0 {
		return nil
	}
	var missing, all []string
	for _, c := range t.Constraints {
		all = append(all, string(c.Output))
		reading, ok := readings[string(c.Output)]
		if !ok {
			missing = append(missing, quote(string(c.Output)))
			continue
		}
		if problem := c.takes(reading); problem != "" {
			return fmt.Errorf("constraint %s is %s", quote(string(c.Output)), problem)
		}
	}
	switch len(missing) {
	case 0:
	case 1:
		return fmt.Errorf("the task's constraint %s is missing in the outcome", missing[0])
	default:
		return fmt.Errorf("the task's constraints %s are missing in the outcome", sanitize.List(missing))
	}
	for _, name := range sortedKeys(readings) {
		if !slices.Contains(all, name) {
			return fmt.Errorf("constraint %s is unknown; the task has %s", quote(name), sanitize.List(all))
		}
	}
	return nil
}

// constraints reads the optional list of constraints and sorts it by name, since its order has no
// meaning.
func (m *Section) constraints() []Constraint {
	if _, ok := m.get("constraints"); !ok {
		return nil
	}
	items, ok := m.list("constraints")
	if !ok {
		return nil
	}
	if n := len(items); n < 1 || n > maxConstraints {
		m.Errorf("constraints", "constraints must be 1 to %d, not %d", maxConstraints, n)
		return nil
	}
	all, taken := make([]Constraint, 0, len(items)), map[Output]bool{}
	for i, item := range items {
		if part := m.d.mapping(item, fmt.Sprintf("constraint %d", i+1)); part != nil {
			all = append(all, part.constraint(taken))
		}
	}
	slices.SortFunc(all, func(a, b Constraint) int { return strings.Compare(string(a.Output), string(b.Output)) })
	return all
}

func (m *Section) constraint(taken map[Output]bool) Constraint {
	c := Constraint{Low: math.Inf(-1), High: math.Inf(1)}
	if name, ok := m.text("name"); ok {
		m.what, c.Output = "constraint "+quote(name), Output(name)
		if message := checkParameterName(name); message != "" {
			m.Errorf("name", "%s", message)
		}
		if taken[c.Output] {
			m.Errorf("name", "the name is repeated")
		}
		taken[c.Output] = true
	}
	c.Truth = m.Word("type", numeric, numeric, string(Bool)) == string(Bool)
	if c.Truth {
		for _, key := range []string{"low", "high"} {
			m.Refuse(key, "type: "+numeric)
		}
		m.keepRemark(&m.d.constraints, string(c.Output))
		m.finish()
		return TruthOf(c.Output)
	}
	_, low := m.get("low")
	_, high := m.get("high")
	if low {
		c.Low, _, _ = m.number("low")
	}
	if high {
		c.High, _, _ = m.number("high")
	}
	switch {
	case !low && !high:
		m.errorf(m.at, "needs low, high or both, or type: bool")
	case c.Low > c.High:
		m.Errorf("high", "high %s must not be below low %s", formatFloat(c.High), formatFloat(c.Low))
	}
	m.keepRemark(&m.d.constraints, string(c.Output))
	m.finish()
	return c
}

func canonicalConstraints(all []Constraint) []map[string]any {
	forms := make([]map[string]any, len(all))
	for i, c := range all {
		form := map[string]any{"name": c.Output}
		if c.Truth {
			form["type"] = Bool
			forms[i] = form
			continue
		}
		if !math.IsInf(c.Low, 0) {
			form["low"] = c.Low
		}
		if !math.IsInf(c.High, 0) {
			form["high"] = c.High
		}
		forms[i] = form
	}
	return forms
}
