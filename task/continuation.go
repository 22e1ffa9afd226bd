package task

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"

	"github.com/fbo-node/fbo/internal/sanitize"
)

const continuesKey = "continues"

// continues reads the ID of the former task. The key is optional.
func (m *Section) continues() cid.Cid {
	if _, ok := m.get(continuesKey); !ok {
		return cid.Undef
	}
	text, ok := m.text(continuesKey)
	if !ok {
		return cid.Undef
	}
	id, err := cid.Decode(text)
	if err != nil || id.Version() != 1 || id.Type() != jsonCodec || id.Prefix().MhType != multihash.SHA2_256 || id.String() != text {
		m.Errorf(continuesKey, "%s must be the ID of the former task, as `fbo-node task id FILE` prints it, not %s", continuesKey, quote(text))
		return cid.Undef
	}
	return id
}

// Continuation maps designs of a former task to those of the task that continues it. It compares
// the two search spaces: a parameter is identified by its name.
//
// A design maps to the design with the same values. An added parameter must have a single value or
// be inactive. A removed parameter must have had a single value or be inactive: its results at other
// values are those of another objective. A parameter that now has a single value keeps the designs
// with this value.
type Continuation struct {
	former, current *Task
	from            []int // by parameter: its position in the former space; -1 for an added one
	removed         []int // positions of removed parameters in the former space
}

// Continue returns the continuation of a former task by the current one. It is an error if the
// former task is not the one that the current one names, or optimises in another direction.
func Continue(former, current *Task) (*Continuation, error) {
	switch {
	case !current.Continues.Defined():
		return nil, fmt.Errorf("task: %s continues no other task", quote(current.Name))
	case former.ID() != current.Continues:
		return nil, fmt.Errorf("task: the file of the former task has the ID %v, expected %v", former.ID(), current.Continues)
	case former.Several() && current.Several() && former.Objectives[0].Name != current.Objectives[0].Name:
		return nil, fmt.Errorf("task: the first objective is %s and was %s; results of the former task are not comparable", quote(current.Objectives[0].Name), quote(former.Objectives[0].Name))
	case former.Goal != current.Goal:
		return nil, fmt.Errorf("task: the goal is %s and was %s; results of the former task are not comparable", current.Goal, former.Goal)
	}
	c := &Continuation{former: former, current: current}
	for _, p := range current.Space.parameters {
		at, ok := former.Space.index[p.Name]
		if !ok {
			at = -1
		}
		c.from = append(c.from, at)
	}
	for i, p := range former.Space.parameters {
		if _, kept := current.Space.index[p.Name]; !kept {
			c.removed = append(c.removed, i)
		}
	}
	return c, nil
}

// Former returns the former task.
func (c *Continuation) Former() *Task { return c.former }

// Design returns the design of the current task with the values of a design of the former one. If
// there is none, it returns the reason, such as "lr is outside of its new values".
func (c *Continuation) Design(d Design) (to Design, dropped string) {
	return c.design(d, func(i int, v Value) (Value, bool) {
		taken, ok := c.take(i, v)
		return taken, ok
	})
}

// Place is Design for an estimate: numbers outside of their new range move to its nearest value if
// it is at most reach away, in the unit cube of the former task. stretch is the maximum factor by
// which a small distance in the former cube grows in the current one, at least 1.
func (c *Continuation) Place(d Design, reach float64) (to Design, stretch float64, dropped string) {
	stretch = 1
	to, dropped = c.design(d, func(i int, v Value) (Value, bool) {
		taken, ok := c.take(i, v)
		if !ok {
			taken, ok = c.nearest(i, v, reach)
		}
		stretch = max(stretch, c.growth(i, v))
		return taken, ok
	})
	return to, stretch, dropped
}

// design returns the design with the values that take returns for those of d.
func (c *Continuation) design(d Design, take func(i int, v Value) (Value, bool)) (Design, string) {
	now, was := c.current.Space, c.former.Space
	for _, i := range c.removed {
		if was.blocks[i].Count != 1 && d.values[i] != (Value{}) {
			return Design{}, was.parameters[i].Name + " was removed"
		}
	}
	values := make([]Value, now.Len())
	order := now.order
	if order == nil {
		order = make([]int, now.Len())
		for i := range order {
			order[i] = i
		}
	}
	for _, i := range order {
		v := Value{}
		if c.from[i] >= 0 {
			v = d.values[c.from[i]]
		}
		name := now.parameters[i].Name
		switch ok := true; {
		case !now.active(i, values):
		case v != Value{}:
			if values[i], ok = take(i, v); !ok {
				return Design{}, name + " is outside of its new values"
			}
		case now.blocks[i].Count == 1:
			values[i] = now.listed[i][0]
		default:
			return Design{}, name + " had no value"
		}
	}
	if text, violated := now.violated(values); violated {
		return Design{}, fmt.Sprintf("parameter constraint %s is violated", quote(text))
	}
	if now.checkListed(values) != nil {
		return Design{}, "the design is not listed"
	}
	return Design{space: now, values: values}, ""
}

// take returns the value of parameter i that equals v, which may be of another kind of number.
func (c *Continuation) take(i int, v Value) (Value, bool) {
	if taken, err := c.current.Space.take(i, v); err == nil {
		return taken, true
	}
	other := v
	switch x := v.size(); {
	case v.kind == Int:
		other = FloatValue(x)
	case v.kind == Float && x == math.Trunc(x) && math.Abs(x) <= maxWhole:
		other = IntValue(int64(x))
	}
	taken, err := c.current.Space.take(i, other)
	return taken, err == nil
}

// nearest returns the value of the number i that is nearest to v.
func (c *Continuation) nearest(i int, v Value, reach float64) (Value, bool) {
	s, was := c.current.Space, c.former.Space.parameters[c.from[i]]
	if s.blocks[i].Kind == Categorical || c.former.Space.blocks[c.from[i]].Kind == Categorical {
		return Value{}, false
	}
	to := FloatValue(min(max(v.size(), s.parameters[i].Low), s.parameters[i].High))
	if s.blocks[i].Kind == Int {
		to = s.grids[i].nearest(to.float)
	}
	if was.Scale == Log && to.size() <= 0 {
		return Value{}, false
	}
	return to, math.Abs(was.own(v.size())-was.own(to.size())) <= reach*was.span()
}

// growth returns the factor by which a small distance of parameter i at v grows; 1 if it is not a
// number with a range in both tasks.
func (c *Continuation) growth(i int, v Value) float64 {
	now, was := c.current.Space.parameters[i], c.former.Space.parameters[c.from[i]]
	if now.Fixed != (Value{}) || was.Fixed != (Value{}) || now.span() == 0 || was.span() == 0 {
		return 1
	}
	factor := was.span() / now.span()
	switch x := v.size(); {
	case was.Scale == Log && now.Scale != Log:
		factor *= x
	case was.Scale != Log && now.Scale == Log:
		factor /= max(x, now.Low)
	}
	return factor
}

// own returns a number on the parameter's scale, and span the length of its range there.
func (p Parameter) own(v float64) float64 {
	if p.Scale == Log {
		return math.Log(v)
	}
	return v
}

func (p Parameter) span() float64 {
	if p.Kind != Float && p.Kind != Int {
		return 0
	}
	return p.own(p.High) - p.own(p.Low)
}

// nearest returns the value of the grid that is nearest to x.
func (g *grid) nearest(x float64) Value {
	first, last := int64(0), g.count-1 // the first value that is not below x, or the last value
	for first < last {
		if middle := first + (last-first)/2; g.value(middle).size() < x {
			first = middle + 1
		} else {
			last = middle
		}
	}
	if first > 0 && x-g.value(first-1).size() < g.value(first).size()-x {
		first--
	}
	return g.value(first)
}

// Changes describes each parameter that differs between the tasks, and the other keys
// that do, except the surrogate.
func (c *Continuation) Changes() (changes []string) {
	for i, p := range c.current.Space.parameters {
		switch {
		case c.from[i] < 0 && c.current.Space.blocks[i].Count == 1:
			changes = append(changes, fmt.Sprintf("%s added; former designs get %s", p.Name, p.Fixed.quoted()))
		case c.from[i] < 0:
			changes = append(changes, p.Name+" added; former designs have no value of it")
		default:
			was := c.former.Space.parameters[c.from[i]]
			if parts := was.changesTo(p); len(parts) > 0 {
				changes = append(changes, p.Name+": "+strings.Join(parts, ", "))
			}
		}
	}
	for _, i := range c.removed {
		text := " removed; former designs with a value of it are dropped"
		if c.former.Space.blocks[i].Count == 1 {
			text = " removed; it had a single value"
		}
		changes = append(changes, c.former.Space.parameters[i].Name+text)
	}
	if !slices.Equal(c.former.Space.ParameterConstraints(), c.current.Space.ParameterConstraints()) {
		changes = append(changes, rulesKey+" changed")
	}
	for _, one := range Differences(c.former, c.current) {
		// Defaults of the surrogate follow from the parameters.
		about := func(key string) bool { return strings.HasPrefix(one, key) }
		if !about("parameter ") && !about(continuesKey) && !about(rulesKey) && !about("surrogate") {
			changes = append(changes, one+" changed")
		}
	}
	return changes
}

// changesTo describes how a parameter has become now.
func (p Parameter) changesTo(now Parameter) (parts []string) {
	if (p.Fixed != Value{}) || (now.Fixed != Value{}) {
		if p.Fixed != now.Fixed {
			parts = append(parts, fmt.Sprintf("takes %s, before %s", now.accepted(), p.accepted()))
		}
		return append(parts, p.conditionChange(now)...)
	}
	if p.Kind != now.Kind {
		parts = append(parts, fmt.Sprintf("type %s, before %s", now.Kind, p.Kind))
	}
	bounded := func(p Parameter) bool { return (p.Kind == Float || p.Kind == Int) && p.Numbers == nil }
	if bounded(p) && bounded(now) {
		if p.Low != now.Low || p.High != now.High {
			word := "moved"
			switch {
			case now.Low <= p.Low && now.High >= p.High:
				word = "widened"
			case now.Low >= p.Low && now.High <= p.High:
				word = "narrowed"
			}
			parts = append(parts, fmt.Sprintf("bounds %s to %s … %s, before %s … %s", word,
				formatFloat(now.Low), formatFloat(now.High), formatFloat(p.Low), formatFloat(p.High)))
		}
		if p.Scale != now.Scale {
			parts = append(parts, fmt.Sprintf("scale %s, before %s", now.Scale, p.Scale))
		}
		if p.Step != now.Step {
			parts = append(parts, fmt.Sprintf("step %s, before %s", stepText(now), stepText(p)))
		}
	} else if added, gone := without(now.listed(), p.listed()), without(p.listed(), now.listed()); len(added)+len(gone) > 0 {
		if len(added) > 0 {
			parts = append(parts, "choices added: "+sanitize.List(added))
		}
		if len(gone) > 0 {
			parts = append(parts, "choices removed: "+sanitize.List(gone))
		}
	} else if len(parts) == 0 && !slices.Equal(p.listed(), now.listed()) {
		parts = append(parts, "order of the choices")
	}
	return append(parts, p.conditionChange(now)...)
}

func (p Parameter) conditionChange(now Parameter) []string {
	if reflect.DeepEqual(p.When, now.When) || len(p.When) == 0 && len(now.When) == 0 {
		return nil
	}
	return []string{"conditions changed"}
}

func stepText(p Parameter) string {
	if p.Step == 0 {
		return "none"
	}
	return formatFloat(p.Step)
}

// without returns the texts of the values that others lack.
func without(values, others []Value) (rest []string) {
	for _, v := range values {
		if !slices.Contains(others, v) {
			rest = append(rest, v.quoted())
		}
	}
	return rest
}
