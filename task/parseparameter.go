package task

import (
	"fmt"
	"math"
	"slices"

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
	p.Kind = Kind(m.Word("type", "", string(Float), string(Int), string(Categorical), string(Bool)))
	var items []ast.Node
	switch p.Kind {
	case Float, Int:
		var read bool
		if _, listed := m.entries["choices"]; !listed {
			read = m.bounds(&p)
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
	m.keepRemark(&m.d.parameters, p.Name)
	m.finish()
	if ok {
		m.report(p, items)
	} else if message := checkParameterName(p.Name); message != "" && p.Name != "" {
		m.Errorf("name", "%s", message)
	}
	return p
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
			if v, message = s.choice(); texts {
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

// choice returns the value of a numeric choice, or an error message.
func (s scalar) choice() (v float64, message string) {
	v, exact, message := s.number()
	switch {
	case message != "":
		return 0, "a choice " + message
	case !exact && v == math.Trunc(v) && math.Abs(v) <= maxWhole: // otherwise 9007199254740993 would become 9007199254740992
		return 0, fmt.Sprintf("choice %s is a number with more digits than a float64 holds", shorten(s.text))
	}
	return v, ""
}
