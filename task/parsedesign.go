package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// Check returns an error if d is not a design of this space. The error names the parameter, the
// value and the accepted values. If the listing is absent, only the parameters are checked.
func (s *Space) Check(d Design) error {
	if err := s.checkValues(d); err != nil {
		return err
	}
	return s.checkListed(d.values)
}

// checkListed returns an error if no listed design has these values, which the parameters must
// accept.
func (s *Space) checkListed(values []Value) error {
	l := s.present()
	if l == nil {
		return nil
	}
	if _, ok := l.index(values); !ok {
		return fmt.Errorf("task: %s is none of the %d listed designs", Design{s, values}, l.count)
	}
	return nil
}

// checkValues returns an error if the parameters do not accept the values. It ignores the listing.
func (s *Space) checkValues(d Design) error {
	if d.IsZero() {
		return errors.New("task: the design has no values")
	}
	if d.space != s {
		for i := range max(len(s.parameters), len(d.space.parameters)) {
			switch {
			case i >= len(d.space.parameters):
				return fmt.Errorf("task: parameter %q: the design has no value for it", s.parameters[i].Name)
			case i >= len(s.parameters) || s.parameters[i].Name != d.space.parameters[i].Name:
				return fmt.Errorf("task: parameter %q of the design is not in this place in the space; accepted: %s",
					d.space.parameters[i].Name, s.names())
			}
		}
	}
	for i, v := range d.values {
		if v == (Value{}) {
			continue
		}
		if _, err := s.take(i, v); err != nil {
			return err
		}
	}
	if err := s.checkActive(d.values); err != nil {
		return err
	}
	return s.checkRules(d.values)
}

// NewDesign returns the design with the given values, one for each parameter in the order of the
// space; inactive parameters have the zero Value. The error describes the first value that is not accepted. For a float with a step, a value
// may differ from a step by 1e-8 steps or one unit in the last place; the design then has the exact
// value of the step.
func (s *Space) NewDesign(values ...Value) (Design, error) {
	if len(values) != len(s.parameters) {
		return Design{}, fmt.Errorf("task: %d values given for %d parameters: %s", len(values), len(s.parameters), s.names())
	}
	taken := make([]Value, len(values))
	for i, v := range values {
		var err error
		if v == (Value{}) {
			continue
		}
		if taken[i], err = s.take(i, v); err != nil {
			return Design{}, err
		}
	}
	return s.designOf(taken)
}

// designOf returns the design with values that the parameters accept. If the space has a listing
// without this design, it returns an error.
func (s *Space) designOf(values []Value) (Design, error) {
	if err := s.checkActive(values); err != nil {
		return Design{}, err
	}
	if err := s.checkRules(values); err != nil {
		return Design{}, err
	}
	if err := s.checkListed(values); err != nil {
		return Design{}, err
	}
	return Design{space: s, values: values}, nil
}

func (s *Space) names() string {
	names := make([]string, len(s.parameters))
	for i, p := range s.parameters {
		names[i] = p.Name
	}
	return sanitize.List(names)
}

// accepted returns a description of the values that the parameter accepts.
func (p Parameter) accepted() string {
	if listed := p.listed(); len(listed) == 1 {
		return "only " + listed[0].quoted()
	} else if listed != nil {
		texts := make([]string, len(listed))
		for i, v := range listed {
			texts[i] = v.quoted()
		}
		if p.Kind == Bool {
			return "true or false"
		}
		return "one of " + sanitize.List(texts)
	}
	what, steps := "a number", ""
	if p.Kind == Int {
		what = "a whole number"
	}
	if p.Step != 0 {
		steps = " in steps of " + formatFloat(p.Step)
	}
	return fmt.Sprintf("%s from %s to %s%s", what, formatFloat(p.Low), formatFloat(p.High), steps)
}

// quoted returns the value as error messages show it: texts are in quotes.
func (v Value) quoted() string {
	switch v.kind {
	case Categorical:
		return quote(v.choice)
	case "":
		return "no value"
	}
	return v.String()
}

func (p Parameter) rejected(value string) error {
	return fmt.Errorf("task: parameter %q: %s is not accepted; it takes %s", p.Name, value, p.accepted())
}

// take checks that parameter i accepts the value v. It returns the value for the design, which is
// the exact one of a step, or an error.
func (s *Space) take(i int, v Value) (Value, error) {
	p := s.parameters[i]
	ok := false
	switch s.blocks[i].Kind {
	case Float:
		ok = v.kind == Float && v.float >= p.Low && v.float <= p.High
	case Int:
		var k int64
		if k, ok = s.grids[i].number(v); ok {
			v = s.grids[i].value(k)
		}
	case Categorical:
		ok = slices.Contains(s.listed[i], v)
	}
	if !ok {
		return Value{}, p.rejected(v.quoted())
	}
	return v, nil
}

// ParseDesign returns the design with the given values by parameter name. There must be a value for
// every active parameter and no other name. A parameter with a single value may be left out, and nil
// stands for a parameter that is inactive. A number is a Go number or a json.Number; an int may also be a
// whole float. A choice among texts is a string, and a bool is a bool. A Value of the parameter's
// kind is accepted too.
func (s *Space) ParseDesign(values map[string]any) (Design, error) {
	for name := range values {
		if _, ok := s.index[name]; !ok {
			return Design{}, s.unknown(values)
		}
	}
	parsed := make([]Value, len(s.parameters))
	for i, p := range s.parameters {
		given, ok := values[p.Name]
		if !ok || given == nil && p.conditional() {
			continue
		}
		v, err := s.parse(i, given)
		if err != nil {
			return Design{}, err
		}
		parsed[i] = v
	}
	s.fillSingle(parsed)
	return s.designOf(parsed)
}

// fillSingle sets the missing values of active parameters that have a single value.
func (s *Space) fillSingle(values []Value) {
	fill := func(i int) {
		if values[i] == (Value{}) && s.blocks[i].Count == 1 && s.active(i, values) {
			values[i] = s.listed[i][0]
		}
	}
	if s.order == nil {
		for i := range values {
			fill(i)
		}
	}
	for _, i := range s.order {
		fill(i)
	}
}

func (s *Space) missing(i int) error {
	return &ActivityError{s.parameters[i].Name, false, "no value given; it takes " + s.parameters[i].accepted()}
}

// unknown returns an error for the first unknown name in alphabetical order, so that the same
// values always give the same message.
func (s *Space) unknown(values map[string]any) error {
	var names []string
	for name := range values {
		if _, ok := s.index[name]; !ok {
			names = append(names, name)
		}
	}
	return fmt.Errorf("task: unknown parameter %s; accepted: %s", quote(slices.Min(names)), s.names())
}

// ParseValue returns the value of the named parameter from a text that Value.String has written. It
// accepts true and false in any case, and ignores surrounding spaces except in a choice among
// texts. For a parameter with conditions the empty text gives the zero Value.
func (s *Space) ParseValue(name, text string) (Value, error) {
	i, ok := s.index[name]
	if !ok {
		return Value{}, s.unknown(map[string]any{name: text})
	}
	p, trimmed := s.parameters[i], strings.TrimSpace(text)
	if trimmed == "" && p.conditional() {
		return Value{}, nil
	}
	var given any = text
	switch lower := strings.ToLower(trimmed); {
	case p.Kind == Bool && (lower == "true" || lower == "false"):
		given = lower == "true"
	case p.Kind != Bool && p.Choices == nil:
		if _, err := strconv.ParseFloat(trimmed, 64); err == nil {
			given = json.Number(trimmed)
		}
	}
	return s.parse(i, given)
}

// ParseJSON returns the value of the named parameter from JSON in the form of UnmarshalDesign. For a
// parameter with conditions, null and no data give the zero Value. For others no data is the error of
// a missing value.
func (s *Space) ParseJSON(name string, data []byte) (Value, error) {
	i, ok := s.index[name]
	if !ok {
		return Value{}, s.unknown(map[string]any{name: nil})
	}
	if empty := len(data) == 0; s.parameters[i].conditional() && (empty || string(data) == "null") {
		return Value{}, nil
	} else if empty {
		return Value{}, s.missing(i)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var given any
	if err := decoder.Decode(&given); err != nil {
		return Value{}, fmt.Errorf("task: parameter %q: not valid JSON: %w", name, err)
	}
	return s.parse(i, given)
}

func (s *Space) parse(i int, given any) (Value, error) {
	p := s.parameters[i]
	var v Value
	ok := false
	switch given := given.(type) {
	case Value:
		v, ok = given, true
	case string:
		v, ok = ChoiceValue(given), p.Choices != nil
	case bool:
		v, ok = BoolValue(given), p.Kind == Bool
	default:
		v, ok = p.number(given)
	}
	if !ok {
		return Value{}, p.rejected(describe(given))
	}
	return s.take(i, v)
}

// number converts a given number to a value of the parameter; ok is false if the number has the
// wrong type.
func (p Parameter) number(given any) (v Value, ok bool) {
	var whole int64
	var size float64
	switch {
	case p.Kind == Bool || p.Choices != nil:
	case p.wholeNumbers():
		whole, ok = wholeNumber(given)
		v = IntValue(whole)
	default:
		size, ok = number(given)
		v = FloatValue(size)
	}
	return v, ok
}

func describe(given any) string {
	switch given := given.(type) {
	case nil:
		return "null"
	case string:
		return "the text " + quote(given)
	case json.Number:
		if len(given) > 40 {
			return string(given[:40]) + "..."
		}
		return string(given)
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case bool, int, int32, int64, uint, uint32, uint64, float32, float64:
		return fmt.Sprint(given)
	}
	return fmt.Sprintf("a %T", given)
}

// number converts any Go number or json.Number to a float64, which may round it.
func number(given any) (float64, bool) {
	switch given := given.(type) {
	case float64:
		return given, true
	case float32:
		return float64(given), true
	case json.Number:
		v, err := given.Float64()
		return v, err == nil
	}
	whole, ok := wholeNumber(given)
	return float64(whole), ok
}

// wholeNumber converts any whole number to an int64. It accepts floats only up to 2^53, since
// larger ones may have been rounded before.
func wholeNumber(given any) (int64, bool) {
	switch given := given.(type) {
	case int:
		return int64(given), true
	case int32:
		return int64(given), true
	case int64:
		return given, true
	case uint:
		return int64(given), uint64(given) <= math.MaxInt64
	case uint32:
		return int64(given), true
	case uint64:
		return int64(given), given <= math.MaxInt64
	case float64:
		return int64(given), given == math.Trunc(given) && math.Abs(given) <= maxWhole
	case float32:
		return wholeNumber(float64(given))
	case json.Number:
		if whole, err := given.Int64(); err == nil {
			return whole, true
		}
		v, err := given.Float64()
		if err != nil {
			return 0, false
		}
		return wholeNumber(v)
	}
	return 0, false
}

// maxDesignLen is the maximum length of a design's JSON. It suffices for 100 parameters with the
// longest choices, in which every character is escaped.
const maxDesignLen = 1 << 19

// UnmarshalDesign parses the JSON object that Design.MarshalJSON writes. It accepts the same values
// as ParseDesign. A repeated name, or text after the object, is an error.
func (s *Space) UnmarshalDesign(data []byte) (Design, error) {
	if len(data) > maxDesignLen {
		return Design{}, fmt.Errorf("task: design of %d bytes; at most %d are accepted", len(data), maxDesignLen)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return Design{}, errors.New(`task: the design must be a JSON object {"name": value, ...}`)
	}
	values := map[string]any{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return Design{}, fmt.Errorf("task: the design is not valid JSON: %w", err)
		}
		name := key.(string) // the decoder accepts only strings as keys
		if _, ok := values[name]; ok {
			return Design{}, fmt.Errorf("task: parameter %s: given twice", quote(name))
		}
		var value any
		if err := decoder.Decode(&value); err != nil {
			return Design{}, fmt.Errorf("task: the design is not valid JSON: %w", err)
		}
		values[name] = value
	}
	if _, err := decoder.Token(); err != nil {
		return Design{}, fmt.Errorf("task: the design is not valid JSON: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Design{}, errors.New("task: there is text after the design's JSON object")
	}
	return s.ParseDesign(values)
}
