package task

import (
	"slices"
	"sync"

	"github.com/expr-lang/expr/vm"
)

// ruleCheck evaluates the constraints among parameters at one design after another. It decodes only
// the parameters that the evaluated constraints name, and reuses its memory. It is not safe for
// concurrent use.
type ruleCheck struct {
	space     *Space
	machine   vm.VM
	order     []int          // of the rules: the one that was violated last is first
	u         []float64      // encoded design; not used if all values are known
	values    []Value        // of the design, where known; the zero Value if inactive
	known     []bool         // by parameter
	variables map[string]any // of the expressions, for the known values
}

func (s *Space) newRuleCheck() *ruleCheck {
	c := &ruleCheck{space: s, values: make([]Value, s.Len()), known: make([]bool, s.Len()), variables: map[string]any{}}
	for i := range s.rules {
		c.order = append(c.order, i)
	}
	return c
}

// newRuleChecks returns a pool of the space's checks. Copies of the space share it.
func newRuleChecks(s *Space) *sync.Pool {
	return &sync.Pool{New: func() any { return s.newRuleCheck() }}
}

// satisfied reports whether the design at u satisfies all rules.
func (c *ruleCheck) satisfied(u []float64) bool {
	c.u = u
	clear(c.known)
	_, broken := c.violated()
	c.u = nil
	return !broken
}

// violated returns the index of a violated rule, and moves it to the front of the order. In a new
// ruleCheck this is the first one of the task file.
func (c *ruleCheck) violated() (rule int, ok bool) {
	for k, rule := range c.order {
		if !c.holds(c.space.rules[rule]) {
			copy(c.order[1:k+1], c.order[:k])
			c.order[0] = rule
			return rule, true
		}
	}
	return 0, false
}

// holds reports whether the design satisfies the rule. A rule does not apply if one of its parameters
// is inactive.
func (c *ruleCheck) holds(r rule) bool {
	inactive := func(i int) bool { return c.value(i) == Value{} }
	if slices.ContainsFunc(r.parameters, inactive) {
		return true
	}
	result, err := c.machine.Run(r.program, c.variables)
	satisfied, ok := result.(bool)
	return err == nil && ok && satisfied
}

// value returns the value of parameter i.
func (c *ruleCheck) value(i int) Value {
	if !c.known[i] {
		v := Value{}
		if c.active(i) {
			v = c.space.ValueAt(i, c.u)
		}
		c.set(i, v)
	}
	return c.values[i]
}

func (c *ruleCheck) active(i int) bool {
	for _, condition := range c.space.parameters[i].When {
		if !condition.holds(c.value(c.space.index[condition.Parameter])) {
			return false
		}
	}
	return true
}

// set makes the value of parameter i known.
func (c *ruleCheck) set(i int, v Value) {
	c.values[i], c.known[i] = v, true
	if v != (Value{}) {
		c.variables[c.space.parameters[i].Name] = v.variable()
	}
}

// variable returns the value as the variable of an expression. Numbers are floats.
func (v Value) variable() any {
	switch v.kind {
	case Categorical:
		return v.choice
	case Bool:
		return v.bool
	}
	return v.size()
}
