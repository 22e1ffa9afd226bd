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

// decoder holds the state of parsing one file, and collects its errors.
type decoder struct {
	file         string
	errors       []*Error
	decimal, odd *regexp.Regexp

	strategies []StrategyType // accepted types of strategy, the default first
	chosen     StrategyType   // type of strategy in the file, set after the section strategy was read

	beside  fs.FS    // folder of the file, for tables; nil if there is none
	space   *Space   // space of the file if it is already built; else nil
	listing *Listing // listing for a canonical form that has its digest; nil: none
	omitted int      // number of errors that are not in errors

	parameters, constraints map[string]Remark // About.Parameters and About.Constraints

	constrained bool // Task.Constrained, known before the optional sections are read
	several     bool // Task.Several, known as early
	complete    bool // see Section.Complete
}

func newDecoder(file string, strategies []StrategyType) *decoder {
	return &decoder{file: file, decimal: decimalPattern(), odd: oddPattern(), strategies: strategies}
}

func (d *decoder) errorf(at position, format string, a ...any) {
	d.errors = append(d.errors, &Error{File: d.file, Line: at.line, Column: at.column, Message: fmt.Sprintf(format, a...)})
}

// Section reads one mapping of a task file strictly. Each method that reads a key marks the key as
// accepted; keys that nothing has read are errors. A method that finds an error reports it with
// line and column, and returns the default or the file's value. Parse then returns only the errors.
type Section struct {
	d        *decoder
	what     string // name in messages: "strategy", `parameter "x"`, or "" for the file itself
	at       position
	entries  map[string]entry
	order    []string // keys in their order in the file
	accepted []string
	refused  []string // keys of all calls of Refuse
}

type entry struct {
	at    position // position of the key
	value ast.Node
}

// absent returns an empty Section, for an optional section that the file does not have.
func (d *decoder) absent(what string, at position) *Section {
	return &Section{d: d, what: what, at: at, entries: map[string]entry{}}
}

// mapping returns a node as a Section. If the node is not a mapping, it reports an error and
// returns nil.
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

// formOf returns an example of a mapping for an error message. The example contains the value that
// the file has in place of a mapping.
func formOf(what string, given scalar) string {
	value := func(otherwise string) string {
		if given.form == formText {
			return given.text
		}
		return otherwise
	}
	kind, _, _ := strings.Cut(what, " ") // "parameter 1" gives "parameter"
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

// quoteOdd quotes a text if YAML requires it within a mapping on one line.
func quoteOdd(text string) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
	}
	if text == "" || strings.ContainsFunc(text, odd) {
		return quote(text)
	}
	return text
}

// listForm returns an example of a list for an error message, or "" if there is none for the key.
func listForm(key string) string {
	switch key {
	case "parameters":
		return "; expected [{name: x, type: float, low: 0, high: 1}]"
	case "constraints":
		return "; expected [{name: x, high: 1}]"
	}
	return ""
}

// errorf reports an error, with the section's name before the message.
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

// require returns the value of a key; it reports an error if the key is missing.
func (m *Section) require(key string) (ast.Node, bool) {
	n, ok := m.get(key)
	if !ok {
		m.errorf(m.at, "missing key %q", key)
	}
	return n, ok
}

// valueAt returns the position of a key's value, or of the section if the key is missing.
func (m *Section) valueAt(key string) position {
	if e, ok := m.entries[key]; ok {
		return nodePosition(e.value)
	}
	return m.at
}

// finish reports the keys that nothing has read as unknown.
func (m *Section) finish() {
	for _, key := range m.order {
		if !slices.Contains(m.accepted, key) {
			m.errorf(m.entries[key].at, "unknown key %s; accepted: %s", quote(key), strings.Join(m.accepted, ", "))
		}
	}
}

// Accept accepts keys with any values. It is for keys that cannot be checked because of an error
// that was already reported.
func (m *Section) Accept(keys ...string) {
	for _, key := range keys {
		m.get(key)
	}
}

// Errorf reports an error in the value of a key.
func (m *Section) Errorf(key, format string, a ...any) { m.errorf(m.valueAt(key), format, a...) }

// Refuse reports an error if the key is present. The argument condition describes when the key
// applies.
func (m *Section) Refuse(key, condition string) {
	m.refused = append(m.refused, key)
	if e, ok := m.entries[key]; ok {
		m.errorf(e.at, "%s applies only with %s", key, condition)
		m.order = slices.DeleteFunc(m.order, func(k string) bool { return k == key })
	}
}

// Known reports whether a method has read or refused the key.
func (m *Section) Known(key string) bool {
	return slices.Contains(m.accepted, key) || slices.Contains(m.refused, key)
}

// KeysOf returns the keys that read accepts or refuses when it gets an empty section.
func (m *Section) KeysOf(read func(other *Section)) []string {
	other := newDecoder("", nil).absent(m.what, position{})
	other.d.constrained, other.d.complete = m.d.constrained, m.d.complete
	read(other)
	return slices.Concat(other.accepted, other.refused)
}

// Complete reports whether the file has the form of Canonical, which contains all defaults. A
// missing key then has the value for which Canonical omits it, which need not be the current
// default.
func (m *Section) Complete() bool { return m.d.complete }

// Several reports whether the task has several objectives.
func (m *Section) Several() bool { return m.d.several }

// Constrained reports whether designs of the task can be infeasible, as Task.Constrained does. It
// is for keys that apply only to such tasks.
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

// Word reads a key whose value is one of the accepted words. Without the key it returns the
// fallback, and after an error "". An empty fallback makes the key required.
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

// Flag reads an optional true or false; the default is false.
func (m *Section) Flag(key string) bool {
	n, ok := m.get(key)
	if !ok {
		return false
	}
	s := m.d.scalar(n)
	if s.form != formBool {
		m.errorf(nodePosition(n), "%s must be true or false, not %s", key, s.describe())
		return false
	}
	return strings.EqualFold(s.text, "true")
}

// number reads a required finite number. It also returns whether a float64 represents the written
// number exactly.
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

// Required reads a required number from low to high. If the key is missing, it reports an error and
// returns 0.
func (m *Section) Required(key string, low, high float64) float64 {
	if _, ok := m.require(key); !ok {
		return 0
	}
	return m.Within(key, 0, low, high)
}

// Within reads an optional number from low to high; the fallback is its default.
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

// Whole reads an optional whole number from low to high; the fallback is its default.
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

// numbers reads a required list of numbers, each from low to high. After an error it returns nil.
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

// list reads a required list and returns its items.
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
