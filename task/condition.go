package task

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// Condition is a requirement on the value of another parameter, the parent. A parameter with
// conditions is active in a design if all of them hold, and otherwise absent from it. No condition
// on an absent parent holds.
type Condition struct {
	Parameter string // name of the parent

	// Values has the accepted values of a parent with finitely many values. It is nil for a range.
	Values []Value

	// Low and High are the inclusive bounds of a float or int parent; an infinite bound is absent.
	// They are not used if Values is set.
	Low, High float64
}

// Equals returns the condition that the parent has one of the values.
func Equals(parent string, values ...Value) Condition {
	return Condition{Parameter: parent, Values: values}
}

// Between returns the condition that the number of a float or int parent is from low to high, both
// included. Either may be infinite.
func Between(parent string, low, high float64) Condition {
	return Condition{Parameter: parent, Low: low, High: high}
}

// holds reports whether the parent's value v meets the condition. An absent value does not.
func (c Condition) holds(v Value) bool {
	switch {
	case v == Value{}:
		return false
	case c.Values != nil:
		return slices.Contains(c.Values, v)
	}
	return v.size() >= c.Low && v.size() <= c.High
}

// String returns the condition as in a task file, such as "optimizer: adam".
func (c Condition) String() string {
	if c.Values != nil {
		texts := make([]string, len(c.Values))
		for i, v := range c.Values {
			texts[i] = v.String()
		}
		if len(texts) == 1 {
			return c.Parameter + ": " + texts[0]
		}
		return fmt.Sprintf("%s: [%s]", c.Parameter, strings.Join(texts, ", "))
	}
	var bounds []string
	if !math.IsInf(c.Low, 0) {
		bounds = append(bounds, "low: "+formatFloat(c.Low))
	}
	if !math.IsInf(c.High, 0) {
		bounds = append(bounds, "high: "+formatFloat(c.High))
	}
	return fmt.Sprintf("%s: {%s}", c.Parameter, strings.Join(bounds, ", "))
}

// canonical returns the condition in the canonical form of a task.
func (c Condition) canonical() any {
	if c.Values != nil {
		return c.Values
	}
	form := map[string]any{}
	if !math.IsInf(c.Low, 0) {
		form["low"] = c.Low
	}
	if !math.IsInf(c.High, 0) {
		form["high"] = c.High
	}
	return form
}

// conditionProblem is an error in a condition of a parameter.
type conditionProblem struct {
	parameter int    // position of the parameter that has the condition
	parent    string // parent as written
	message   string
}

// checkConditions returns the errors of the conditions of all parameters. On success it sets the
// conditions in their normal form, and the order in which parameters are decided: parents first.
func (s *Space) checkConditions() []conditionProblem {
	var all []conditionProblem
	for i, p := range s.parameters {
		seen := map[string]bool{}
		for k, c := range p.When {
			message := ""
			parent, known := s.index[c.Parameter]
			switch {
			case !known:
				message = fmt.Sprintf("unknown parameter %s; expected one of %s", quote(c.Parameter), s.namesExcept(i))
			case parent == i:
				message = "the parameter cannot depend on itself"
			case seen[c.Parameter]:
				message = fmt.Sprintf("two conditions on %q; expected one", c.Parameter)
			default:
				message = s.normaliseCondition(parent, &p.When[k])
			}
			seen[c.Parameter] = true
			if message != "" {
				all = append(all, conditionProblem{i, c.Parameter, message})
			}
		}
		slices.SortFunc(p.When, func(a, b Condition) int { return cmp.Compare(s.index[a.Parameter], s.index[b.Parameter]) })
	}
	if len(all) > 0 {
		return all
	}
	return s.sortByParents()
}

// normaliseCondition checks a condition on the parameter at index parent, and brings it into its
// normal form. It returns an error message, or "".
func (s *Space) normaliseCondition(parent int, c *Condition) string {
	p, block := s.parameters[parent], s.blocks[parent]
	if c.Values == nil {
		c.Low, c.High = FloatValue(c.Low).float, FloatValue(c.High).float
		switch {
		case p.Kind != Float && p.Kind != Int:
			return fmt.Sprintf("a range applies only to a parent with type: float or int; %q is a %s", p.Name, p.Kind)
		case math.IsNaN(c.Low) || math.IsNaN(c.High) || math.IsInf(c.Low, 1) || math.IsInf(c.High, -1):
			return "low and high must be finite numbers"
		case math.IsInf(c.Low, 0) && math.IsInf(c.High, 0):
			return "a range without low and high; expected one of them or both"
		case c.Low > c.High:
			return fmt.Sprintf("low %s must be at most high %s", formatFloat(c.Low), formatFloat(c.High))
		case !s.reaches(parent, *c):
			return fmt.Sprintf("no value of %q is in the range; it takes %s", p.Name, p.accepted())
		}
		return ""
	}
	if len(c.Values) == 0 {
		return fmt.Sprintf("no value of %q given; it takes %s", p.Name, p.accepted())
	}
	if block.Kind == Float {
		return fmt.Sprintf("%q is a float without steps; expected a range: {low: …, high: …}", p.Name)
	}
	for i, v := range c.Values {
		taken, err := s.take(parent, v)
		if err != nil {
			return messageOf(err)
		}
		c.Values[i] = taken
	}
	order := func(a, b Value) int { return cmp.Compare(s.number(parent, a), s.number(parent, b)) }
	slices.SortFunc(c.Values, order)
	c.Values = slices.Compact(c.Values)
	return ""
}

// number returns the position of a value among the finitely many values of a parameter.
func (s *Space) number(parameter int, v Value) int64 {
	if s.blocks[parameter].Kind == Categorical {
		return int64(slices.Index(s.listed[parameter], v))
	}
	k, _ := s.grids[parameter].number(v)
	return k
}

// reaches reports whether some value of the float or int parameter is in the condition's range.
func (s *Space) reaches(parameter int, c Condition) bool {
	p, block := s.parameters[parameter], s.blocks[parameter]
	switch block.Kind {
	case Float:
		return c.Low <= p.High && c.High >= p.Low
	case Categorical: // a fixed number
		return c.holds(s.listed[parameter][0])
	}
	// The smallest value that is not below Low is in the range if any is.
	g, first, last := &s.grids[parameter], int64(0), block.Count
	for first < last {
		if middle := first + (last-first)/2; g.value(middle).size() < c.Low {
			first = middle + 1
		} else {
			last = middle
		}
	}
	return first < block.Count && c.holds(g.value(first))
}

// sortByParents sets the order in which parameters are decided. If conditions form a cycle, it
// returns an error for each parameter on one.
func (s *Space) sortByParents() []conditionProblem {
	const visiting, done = 1, 2
	state := make([]int, len(s.parameters))
	var path []int
	var all []conditionProblem
	var order []int
	var visit func(i int)
	visit = func(i int) {
		state[i] = visiting
		path = append(path, i)
		for _, c := range s.parameters[i].When {
			parent := s.index[c.Parameter]
			switch state[parent] {
			case 0:
				visit(parent)
			case visiting:
				var names []string
				for _, on := range path[slices.Index(path, parent):] {
					names = append(names, s.parameters[on].Name)
				}
				all = append(all, conditionProblem{i, c.Parameter, fmt.Sprintf("the conditions form a cycle: %s", strings.Join(append(names, names[0]), " → "))})
			}
		}
		path = path[:len(path)-1]
		state[i] = done
		order = append(order, i)
	}
	for i := range s.parameters {
		if state[i] == 0 {
			visit(i)
		}
	}
	if len(all) == 0 && slices.ContainsFunc(s.parameters, Parameter.conditional) {
		s.order = order
	}
	return all
}

func (p Parameter) conditional() bool { return len(p.When) > 0 }

// Conditional reports whether a parameter of the space has a condition.
func (s *Space) Conditional() bool { return s.order != nil }

// active reports whether parameter i is active, given the values of its parents.
func (s *Space) active(i int, values []Value) bool {
	for _, c := range s.parameters[i].When {
		if !c.holds(values[s.index[c.Parameter]]) {
			return false
		}
	}
	return true
}

// dropInactive replaces the values of inactive parameters by the zero Value.
func (s *Space) dropInactive(values []Value) {
	for _, i := range s.order {
		if !s.active(i, values) {
			values[i] = Value{}
		}
	}
}

// ActivityError reports that a design has a value for an inactive parameter, or none for an active
// one.
type ActivityError struct {
	Parameter string
	Inactive  bool // the parameter is inactive, and has a value
	message   string
}

func (e *ActivityError) Error() string {
	return fmt.Sprintf("task: parameter %q: %s", e.Parameter, e.message)
}

// checkActive returns an *ActivityError if an active parameter has no value, or an inactive one has
// one.
func (s *Space) checkActive(values []Value) error {
	for i, v := range values {
		switch p, given := s.parameters[i], v != (Value{}); {
		case given == s.active(i, values):
		case given:
			return &ActivityError{p.Name, true, fmt.Sprintf("%s given, expected no value: it applies only with %s", v.quoted(), p.condition())}
		default:
			return s.missing(i)
		}
	}
	return nil
}

// condition returns the conditions of a parameter as in a task file.
func (p Parameter) condition() string {
	texts := make([]string, len(p.When))
	for i, c := range p.When {
		texts[i] = c.String()
	}
	return strings.Join(texts, " and ")
}

// impute sets the coordinates of parameter i to those of an inactive parameter: the centre of a
// number, and the first choice.
func (s *Space) impute(u []float64, i int) {
	block := s.blocks[i]
	switch block.Kind {
	case Float:
		u[block.Start] = 0.5
	case Int:
		g := &s.grids[i]
		u[block.Start] = g.coordinate(g.index(0.5))
	case Categorical:
		clear(u[block.Start : block.Start+block.Len])
		u[block.Start] = 1
	}
}

// Impute moves the coordinates of the parameters that are inactive at u to the centre, or the first
// choice. It does not move other coordinates.
func (s *Space) Impute(u []float64) {
	if s.order == nil {
		return
	}
	var room [maxParameters]bool
	active := room[:len(s.parameters)]
	s.Active(active, u)
	for i, on := range active {
		if !on {
			s.impute(u, i)
		}
	}
}

// Active sets active[i] to whether parameter i is active in the encoded design u. Both must have
// the space's lengths, Len and Dim. Without conditions all parameters are active.
func (s *Space) Active(active []bool, u []float64) {
	s.checkDim(u)
	for i := range active {
		active[i] = true
	}
	for _, i := range s.order {
		for _, c := range s.parameters[i].When {
			parent := s.index[c.Parameter]
			active[i] = active[i] && active[parent] && c.holds(s.ValueAt(parent, u))
		}
	}
}

// ValueAt returns the value of parameter i at u, which has length Dim. It ignores conditions,
// constraints among parameters and the listing.
func (s *Space) ValueAt(i int, u []float64) Value {
	block := s.blocks[i]
	switch block.Kind {
	case Float:
		return FloatValue(s.axes[i].decode(u[block.Start]))
	case Int:
		return s.grids[i].value(s.grids[i].index(u[block.Start]))
	}
	return s.listed[i][largest(u[block.Start:block.Start+block.Len])]
}

// namesExcept returns the names of all parameters but one.
func (s *Space) namesExcept(i int) string {
	var names []string
	for k, p := range s.parameters {
		if k != i {
			names = append(names, p.Name)
		}
	}
	return sanitize.List(names)
}
