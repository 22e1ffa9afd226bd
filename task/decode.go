package task

import (
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// decoder collects the errors of one file.
type decoder struct {
	file         string
	errors       []*Error
	decimal, odd *regexp.Regexp

	strategies []StrategyType // that are accepted, the default first
	chosen     StrategyType   // of these, when the section strategy has been read

	beside  fs.FS    // the folder of the file, for tables; nil when there is none
	listing *Listing // that a canonical form may mean; nil for none
	omitted int      // errors that are not in the list

	constrained bool // what Task.Constrained tells, before the optional sections are read
	complete    bool // what Section.Complete tells
}

func newDecoder(file string, strategies []StrategyType) *decoder {
	return &decoder{file: file, decimal: decimalPattern(), odd: oddPattern(), strategies: strategies}
}

func (d *decoder) errorf(at position, format string, a ...any) {
	d.errors = append(d.errors, &Error{File: d.file, Line: at.line, Column: at.column, Message: fmt.Sprintf(format, a...)})
}

// Section is a strict view of one mapping of a task file. Each getter makes its key
// an accepted one; keys that no getter asked for are errors. A getter that finds
// something wrong reports it, with line and column, and returns the default or what
// the file says: Parse returns no task then.
type Section struct {
	d        *decoder
	what     string // for messages: "strategy", `parameter "x"`, or "" for the file itself
	at       position
	entries  map[string]entry
	order    []string // keys as they come in the file
	accepted []string
	refused  []string // keys that Refuse was asked about
}

type entry struct {
	at    position // of the key
	value ast.Node
}

// absent is the mapping of an optional section that is not in the file.
func (d *decoder) absent(what string, at position) *Section {
	return &Section{d: d, what: what, at: at, entries: map[string]entry{}}
}

// mapping returns nil, after an error, when n is not a mapping.
func (d *decoder) mapping(n ast.Node, what string) *Section {
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		subject := what
		if subject == "" {
			subject = "the file"
		}
		d.errorf(nodePosition(n), "%s must be a mapping (key: value), not %s; expected %s", subject, d.scalar(n).describe(), formOf(what, d.scalar(n)))
		return nil
	}
	m := d.absent(what, nodePosition(n))
	for _, pair := range pairs {
		at := nodePosition(pair.Key)
		key := pair.Key.GetToken().Value
		if first, ok := m.entries[key]; ok {
			m.errorf(at, "key %s is repeated; it is first on line %d", quote(key), first.at.line)
			continue
		}
		m.entries[key] = entry{at, pair.Value}
		m.order = append(m.order, key)
	}
	return m
}

// formOf returns an example of a mapping, which has the value that was given in its place.
func formOf(what string, given scalar) string {
	value := func(otherwise string) string {
		if given.form == formText {
			return given.text
		}
		return otherwise
	}
	kind, _, _ := strings.Cut(what, " ") // as in "parameter 1"
	switch kind {
	case "":
		return "name: my-task, and the keys goal and parameters"
	case "strategy":
		return fmt.Sprintf("strategy: {type: %s}", quoteOdd(value("alone")))
	case "surrogate":
		return fmt.Sprintf("surrogate: {type: %s}", quoteOdd(value(exact)))
	case "designs":
		return fmt.Sprintf("designs: {file: %s}", quoteOdd(value("designs.csv")))
	case "privacy":
		return "privacy: {epsilon: 4}"
	case "parameter":
		return fmt.Sprintf("{name: %s, type: float, low: 0, high: 1}", quoteOdd(value("x")))
	case "constraint":
		return fmt.Sprintf("{name: %s, high: 1}", quoteOdd(value("x")))
	}
	return what + ": {KEY: VALUE}"
}

// quoteOdd returns a text as YAML has it in a mapping on one line.
func quoteOdd(text string) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
	}
	if text == "" || strings.ContainsFunc(text, odd) {
		return quote(text)
	}
	return text
}

// listForm returns an example of a list, if the key has one.
func listForm(key string) string {
	switch key {
	case "parameters":
		return "; expected [{name: x, type: float, low: 0, high: 1}]"
	case "constraints":
		return "; expected [{name: x, high: 1}]"
	}
	return ""
}

// errorf puts the mapping's name before the message.
func (m *Section) errorf(at position, format string, a ...any) {
	if m.what != "" {
		format = "%s: " + format
		a = append([]any{m.what}, a...)
	}
	m.d.errorf(at, format, a...)
}

func (m *Section) get(key string) (ast.Node, bool) {
	if !slices.Contains(m.accepted, key) {
		m.accepted = append(m.accepted, key)
	}
	e, ok := m.entries[key]
	return e.value, ok
}

// require reports a missing key.
func (m *Section) require(key string) (ast.Node, bool) {
	n, ok := m.get(key)
	if !ok {
		m.errorf(m.at, "missing key %q", key)
	}
	return n, ok
}

// valueAt returns where a key's value is, or where the mapping is without it.
func (m *Section) valueAt(key string) position {
	if e, ok := m.entries[key]; ok {
		return nodePosition(e.value)
	}
	return m.at
}

// finish reports unknown keys.
func (m *Section) finish() {
	for _, key := range m.order {
		if !slices.Contains(m.accepted, key) {
			m.errorf(m.entries[key].at, "unknown key %s; accepted: %s", quote(key), strings.Join(m.accepted, ", "))
		}
	}
}

// Accept makes keys accepted whatever they hold, where an error elsewhere, reported
// already, keeps them from being judged.
func (m *Section) Accept(keys ...string) {
	for _, key := range keys {
		m.get(key)
	}
}

// Errorf reports what is wrong with the value of a key.
func (m *Section) Errorf(key, format string, a ...any) { m.errorf(m.valueAt(key), format, a...) }

// Refuse reports a key that exists but not beside the others.
func (m *Section) Refuse(key, condition string) {
	m.refused = append(m.refused, key)
	if e, ok := m.entries[key]; ok {
		m.errorf(e.at, "%s applies only with %s", key, condition)
		m.order = slices.DeleteFunc(m.order, func(k string) bool { return k == key })
	}
}

// Known reports whether the section has accepted or refused a key.
func (m *Section) Known(key string) bool {
	return slices.Contains(m.accepted, key) || slices.Contains(m.refused, key)
}

// KeysOf returns the keys of a section that read accepts or refuses where none is set.
func (m *Section) KeysOf(read func(other *Section)) []string {
	other := newDecoder("", nil).absent(m.what, position{})
	other.d.constrained, other.d.complete = m.d.constrained, m.d.complete
	read(other)
	return slices.Concat(other.accepted, other.refused)
}

// Complete reports whether the file is as Canonical writes it, with all defaults. Keys that Canonical
// leaves out then have the value for which it leaves them out.
func (m *Section) Complete() bool { return m.d.complete }

// Constrained reports whether designs of the task can be infeasible, as Task.Constrained
// does: for keys that apply only then.
func (m *Section) Constrained() bool { return m.d.constrained }

// text returns the text of a required key.
func (m *Section) text(key string) (string, bool) {
	n, ok := m.require(key)
	if !ok {
		return "", false
	}
	s := m.d.scalar(n)
	switch s.form {
	case formText:
		return s.text, true
	case formNumber, formOddNumber, formNotFinite, formBool:
		m.errorf(nodePosition(n), "%s must be a text, not %s; write it in quotes", key, s.describe())
	default:
		m.errorf(nodePosition(n), "%s must be a text, not %s", key, s.describe())
	}
	return "", false
}

// Word returns one of the accepted words; without the key, the fallback, and ""
// after an error. An empty fallback makes the key required.
func (m *Section) Word(key, fallback string, accepted ...string) string {
	n, ok := m.get(key)
	if !ok && fallback == "" {
		m.errorf(m.at, "missing key %q; accepted: %s", key, strings.Join(accepted, ", "))
		return ""
	}
	if !ok {
		return fallback
	}
	s := m.d.scalar(n)
	if s.form == formText && slices.Contains(accepted, s.text) {
		return s.text
	}
	m.errorf(nodePosition(n), "%s must be one of %s, not %s", key, strings.Join(accepted, ", "), s.describe())
	return ""
}

// number returns a required finite number, and whether a float64 holds it
// exactly.
func (m *Section) number(key string) (v float64, exact, ok bool) {
	n, ok := m.require(key)
	if !ok {
		return 0, false, false
	}
	v, exact, message := m.d.scalar(n).number()
	if message != "" {
		m.errorf(nodePosition(n), "%s %s", key, message)
		return 0, false, false
	}
	return v, exact, true
}

// Required returns a number from low to high, for which there is no default. Without
// the key it is 0, after an error.
func (m *Section) Required(key string, low, high float64) float64 {
	if _, ok := m.require(key); !ok {
		return 0
	}
	return m.Within(key, 0, low, high)
}

// Within returns an optional number from low to high.
func (m *Section) Within(key string, fallback, low, high float64) float64 {
	n, ok := m.get(key)
	if !ok {
		return fallback
	}
	v, _, ok := m.number(key)
	if ok && (v < low || v > high) {
		m.errorf(nodePosition(n), "%s %s must be from %s to %s", key, formatFloat(v), formatFloat(low), formatFloat(high))
	}
	return v
}

// Whole returns an optional whole number from low to high.
func (m *Section) Whole(key string, fallback, low, high int) int {
	n, ok := m.get(key)
	if !ok {
		return fallback
	}
	v, exact, ok := m.number(key)
	if !ok {
		return fallback
	}
	if !exact || v != math.Trunc(v) || v < float64(low) || v > float64(high) {
		m.errorf(nodePosition(n), "%s %s must be a whole number from %d to %d", key, shorten(m.d.scalar(n).text), low, high)
		return fallback
	}
	return int(v)
}

// numbers returns the items of a required list, each from low to high; nil after an error.
func (m *Section) numbers(key string, low, high float64) []float64 {
	items, ok := m.list(key)
	if !ok {
		return nil
	}
	all := make([]float64, len(items))
	for i, n := range items {
		v, _, message := m.d.scalar(n).number()
		if message == "" && (v < low || v > high) {
			message = fmt.Sprintf("must be from %s to %s, not %s", formatFloat(low), formatFloat(high), formatFloat(v))
		}
		if message != "" {
			m.errorf(nodePosition(n), "%s: entry %d %s", key, i+1, message)
			ok = false
		}
		all[i] = v
	}
	if !ok {
		return nil
	}
	return all
}

// list returns the items of a required list.
func (m *Section) list(key string) ([]ast.Node, bool) {
	n, ok := m.require(key)
	if !ok {
		return nil, false
	}
	sequence, ok := n.(*ast.SequenceNode)
	if !ok {
		m.errorf(nodePosition(n), "%s must be a list, not %s%s", key, m.d.scalar(n).describe(), listForm(key))
		return nil, false
	}
	return sequence.Values, true
}
