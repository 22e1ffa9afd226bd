package task

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// parameter reads one item of the list of parameters. The argument folded has the names of the
// items before it.
func (m *Section) parameter(folded map[string]string) Parameter {
	var p Parameter
	name, ok := m.text("name")
	if ok {
		p.Name = name
		m.what = fmt.Sprintf("parameter %s", quote(name))
		if message := checkRepeated(folded, name); message != "" {
			m.Errorf("name", "%s", message)
		}
	}
	fallback := ""
	if fixed, given := m.entries["value"]; given {
		fallback = string(m.d.scalar(fixed.value).kind())
	}
	p.Kind = Kind(m.Word("type", fallback, string(Float), string(Int), string(Categorical), string(Bool)))
	var items []ast.Node
	if _, given := m.entries["value"]; given && p.Kind != "" {
		ok = m.fixedValue(&p) && ok
		m.Accept("value", "when")
		m.keepRemark(&m.d.parameters, p.Name)
		m.finish()
		if ok {
			m.report(p, nil)
		}
		return p
	}
	switch p.Kind {
	case Float, Int:
		var read bool
		if _, listed := m.entries["choices"]; !listed {
			if read = m.bounds(&p); read && p.Low == p.High {
				p = Parameter{Name: p.Name, Kind: p.Kind, Fixed: p.point(p.Low)}
			}
		} else if items, read = m.choices(&p); m.beside("choices", rangeKeys()) {
			read = false
		}
		ok = ok && read
	case Categorical:
		var read bool
		items, read = m.choices(&p)
		ok = ok && read
		for _, key := range rangeKeys() {
			m.Refuse(key, "type: float or int")
		}
	case Bool:
		for _, key := range rangeKeys() {
			m.Refuse(key, "type: float or int")
		}
		m.Refuse("choices", "type: categorical, float or int")
	default:
		return p // further checks depend on the type
	}
	m.Accept("value", "when")
	m.keepRemark(&m.d.parameters, p.Name)
	m.finish()
	if ok {
		m.report(p, items)
	} else if message := checkParameterName(p.Name); message != "" && p.Name != "" {
		m.Errorf("name", "%s", message)
	}
	return p
}

// fixedValue reads the key value. It reports an error if the value does not fit the parameter's kind.
func (m *Section) fixedValue(p *Parameter) bool {
	if m.beside("value", append(rangeKeys(), "choices")) {
		return false
	}
	n := m.entries["value"].value
	given, message := m.d.scalar(n).value()
	switch v := given.(type) {
	case string:
		p.Choices = []string{v}
	case bool:
		p.Fixed = BoolValue(v)
	case json.Number:
		size, _ := number(v)
		if p.Fixed = p.point(size); p.Kind == Categorical {
			p.Fixed, p.Numbers = Value{}, []float64{size}
		}
	default:
		if message == "" {
			message = "must be a text, a number, true or false, not " + m.d.scalar(n).describe()
		}
	}
	if _, text := given.(string); message == "" && (text != (p.Kind == Categorical && p.Choices != nil) || (p.Kind == Bool) != (p.Fixed.kind == Bool)) {
		message = fmt.Sprintf("must be a value of type: %s, not %s", p.Kind, m.d.scalar(n).describe())
	}
	if message != "" {
		m.errorf(nodePosition(n), "value %s", message)
	}
	return message == ""
}

// kind returns the kind of a parameter with this single value.
func (s scalar) kind() Kind {
	switch v, _ := s.value(); v := v.(type) {
	case bool:
		return Bool
	case json.Number:
		size, _ := number(v)
		return Parameter{Kind: Int}.point(size).kind
	}
	return Categorical
}

// conditions reads the key when, once all parameters are known. The space has them without
// conditions.
func (m *Section) conditions(s *Space) (all []Condition) {
	n, given := m.entries["when"]
	if !given {
		return nil
	}
	part := m.d.mapping(n.value, "when")
	if part == nil {
		return nil
	}
	part.what = m.what + ": when"
	if len(part.order) == 0 {
		part.errorf(part.at, "no condition given; expected PARENT: VALUE")
	}
	for _, name := range part.order {
		node, _ := part.get(name)
		all = append(all, part.condition(s, name, node))
	}
	return all
}

// condition reads one entry of the section when: a value, a list of values, or a range.
func (m *Section) condition(s *Space, parent string, node ast.Node) Condition {
	c := Condition{Parameter: parent}
	items := []ast.Node{node}
	switch n := node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		part := m.d.mapping(n, parent)
		part.what = m.what + ": " + parent
		c.Low, c.High = math.Inf(-1), math.Inf(1)
		for key, bound := range map[string]*float64{"low": &c.Low, "high": &c.High} {
			if _, given := part.get(key); given {
				if v, _, ok := part.number(key); ok {
					*bound = v
				}
			}
		}
		slices.Sort(part.accepted)
		part.finish()
		return c
	case *ast.SequenceNode:
		items = n.Values
	}
	i, known := s.index[parent]
	c.Values = []Value{}
	for _, item := range items {
		given, message := m.d.scalar(item).value()
		if message == "" && known {
			v, err := s.parse(i, given)
			if err != nil {
				message = strings.TrimPrefix(messageOf(err), fmt.Sprintf("parameter %q: ", parent))
			}
			c.Values = append(c.Values, v)
		}
		if message != "" {
			m.errorf(nodePosition(item), "%s: %s", parent, message)
		}
	}
	return c
}

// rules reads the key parameter_constraints.
func (m *Section) rules() (texts []string, items []ast.Node, ok bool) {
	if _, given := m.get(rulesKey); !given {
		return nil, nil, true
	}
	items, ok = m.list(rulesKey)
	for _, item := range items {
		s := m.d.scalar(item)
		if s.form != formText {
			m.errorf(nodePosition(item), "a parameter constraint must be an expression, not %s", s.describe())
			ok = false
		}
		texts = append(texts, s.text)
	}
	return texts, items, ok
}

// beside reports an error, and returns true, if the section has the key together with a key that it
// replaces.
func (m *Section) beside(key string, others []string) bool {
	for _, other := range others {
		if _, found := m.entries[other]; found {
			m.errorf(m.entries[key].at, "%s is not accepted beside %s: it defines the values by itself", key, other)
			m.accepted = append(m.accepted, others...)
			return true
		}
	}
	return false
}

func rangeKeys() []string { return []string{"low", "high", "scale", "step"} }

// report reports the errors of a parameter, each at the position of its field in the file.
func (m *Section) report(p Parameter, items []ast.Node) {
	for _, problem := range p.problems() {
		at := m.valueAt(problem.field)
		if problem.item >= 0 {
			at = nodePosition(items[problem.item])
		}
		m.errorf(at, "%s", problem.message)
	}
}

func (m *Section) bounds(p *Parameter) bool {
	low, lowExact, lowOK := m.number("low")
	high, highExact, highOK := m.number("high")
	p.Low, p.High = low, high
	p.Scale = Scale(m.Word("scale", string(Linear), string(Linear), string(Log)))
	ok := lowOK && highOK && p.Scale != ""
	stepExact := true
	if _, given := m.get("step"); given {
		var read bool
		p.Step, stepExact, read = m.number("step")
		if ok = ok && read; read && p.Step == 0 {
			m.Errorf("step", "step 0 must be a number above 0")
			ok = false
		}
	}
	if p.Kind == Int {
		// As float64, 9007199254740993 and 0.99999999999999999 become whole numbers within range.
		// Accepting them would silently change the value.
		ok = m.wholeBound("low", low, lowOK && !lowExact) && ok
		ok = m.wholeBound("high", high, highOK && !highExact) && ok
		ok = m.wholeBound("step", p.Step, !stepExact) && ok
	}
	return ok
}

func (m *Section) wholeBound(key string, v float64, rounded bool) bool {
	if !rounded || v != math.Trunc(v) {
		return true
	}
	text := shorten(m.d.scalar(m.entries[key].value).text)
	if math.Abs(v) >= maxWhole {
		m.Errorf(key, "%s %s must be between -2^53 and 2^53 for type: int", key, text)
	} else {
		m.Errorf(key, "%s %s must be a whole number for type: int", key, text)
	}
	return false
}

// choices reads the key choices, whose items must be all texts or all numbers. It returns the
// items, whose positions later errors need.
func (m *Section) choices(p *Parameter) ([]ast.Node, bool) {
	items, ok := m.list("choices")
	if p.Kind != Categorical {
		p.Numbers = []float64{} // so that an empty list counts as a list of numbers
	}
	texts := slices.ContainsFunc(items, func(n ast.Node) bool { return m.d.scalar(n).form == formText })
	for _, n := range items {
		s := m.d.scalar(n)
		message := ""
		switch s.form {
		case formText:
			p.Choices = append(p.Choices, s.text)
		case formNumber, formOddNumber, formNotFinite:
			var v float64
			if v, message = s.exact(); message != "" {
				message = "a choice " + message
			}
			if texts {
				message = fmt.Sprintf("choice %s is a number among texts; write it in quotes (\"%s\")", shorten(s.text), shorten(s.text))
			}
			p.Numbers = append(p.Numbers, v)
		case formBool:
			message = fmt.Sprintf("choice %s is neither a text nor a number; write it in quotes (\"%s\"), or use type: bool", s.text, s.text)
		default:
			message = fmt.Sprintf("a choice must be a text or a number, not %s", s.describe())
		}
		if message != "" {
			m.errorf(nodePosition(n), "%s", message)
			ok = false
		}
	}
	return items, ok
}
