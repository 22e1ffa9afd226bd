package task

import (
	"fmt"
	"math"

	"github.com/goccy/go-yaml/ast"
)

// parameter reads one item of the list of parameters. Names taken before are in
// folded.
func (m *mapping) parameter(folded map[string]string) Parameter {
	var p Parameter
	name, ok := m.text("name")
	if ok {
		p.Name = name
		m.what = fmt.Sprintf("parameter %s", quote(name))
		if message := checkRepeated(folded, name); message != "" {
			m.errorf(m.valueAt("name"), "%s", message)
		}
	}
	p.Kind = Kind(m.word("type", "", string(Float), string(Int), string(Categorical)))
	var items []ast.Node
	switch p.Kind {
	case Float, Int:
		ok = m.bounds(&p) && ok
		m.refuse("choices", "type: categorical")
	case Categorical:
		var read bool
		items, read = m.choices(&p)
		ok = ok && read
		for _, key := range []string{"low", "high", "scale"} {
			m.refuse(key, "type: float or int")
		}
	default:
		return p // what else is wrong depends on the type
	}
	m.finish()
	if ok {
		m.report(p, items)
	} else if message := checkParameterName(p.Name); message != "" && p.Name != "" {
		m.errorf(m.valueAt("name"), "%s", message)
	}
	return p
}

// report gives the problems of a parameter the places of its fields.
func (m *mapping) report(p Parameter, items []ast.Node) {
	for _, problem := range p.problems() {
		at := m.valueAt(problem.field)
		if problem.item >= 0 {
			at = nodePosition(items[problem.item])
		}
		m.errorf(at, "%s", problem.message)
	}
}

func (m *mapping) bounds(p *Parameter) bool {
	low, lowExact, lowOK := m.number("low")
	high, highExact, highOK := m.number("high")
	p.Low, p.High = low, high
	p.Scale = Scale(m.word("scale", string(Linear), string(Linear), string(Log)))
	ok := lowOK && highOK && p.Scale != ""
	if p.Kind == Int {
		// 9007199254740993 and 0.99999999999999999 become whole numbers within
		// range as float64; they must not be taken for what they are not.
		ok = m.wholeBound("low", low, lowOK && !lowExact) && ok
		ok = m.wholeBound("high", high, highOK && !highExact) && ok
	}
	return ok
}

func (m *mapping) wholeBound(key string, v float64, rounded bool) bool {
	if !rounded || v != math.Trunc(v) {
		return true
	}
	text := shorten(m.d.scalar(m.entries[key].value).text)
	if math.Abs(v) >= maxWhole {
		m.errorf(m.valueAt(key), "%s %s must be between -2^53 and 2^53 for type: int", key, text)
	} else {
		m.errorf(m.valueAt(key), "%s %s must be a whole number for type: int", key, text)
	}
	return false
}

// choices returns the items, so that later errors have their places.
func (m *mapping) choices(p *Parameter) ([]ast.Node, bool) {
	items, ok := m.list("choices")
	for _, n := range items {
		s := m.d.scalar(n)
		switch s.form {
		case formText:
			p.Choices = append(p.Choices, s.text)
			continue
		case formNumber, formOddNumber, formNotFinite:
			m.errorf(nodePosition(n), "choice %s is a number; write it in quotes (\"%s\"), or use type: int or float", shorten(s.text), shorten(s.text))
		case formBool:
			m.errorf(nodePosition(n), "choice %s is not a text; write it in quotes (\"%s\")", s.text, s.text)
		default:
			m.errorf(nodePosition(n), "a choice must be a text, not %s", s.describe())
		}
		ok = false
	}
	return items, ok
}
