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
)

// Check returns an error that names the parameter, the value and what is
// accepted when d is not a design of this space.
func (s *Space) Check(d Design) error {
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
		if err := s.parameters[i].check(v); err != nil {
			return err
		}
	}
	return nil
}

// NewDesign returns the design with the given values, one per parameter in the
// order of the space, or the error of the first that is not accepted.
func (s *Space) NewDesign(values ...Value) (Design, error) {
	if len(values) != len(s.parameters) {
		return Design{}, fmt.Errorf("task: %d values given for %d parameters: %s", len(values), len(s.parameters), s.names())
	}
	for i, v := range values {
		if err := s.parameters[i].check(v); err != nil {
			return Design{}, err
		}
	}
	return Design{space: s, values: slices.Clone(values)}, nil
}

func (s *Space) names() string {
	names := make([]string, len(s.parameters))
	for i, p := range s.parameters {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

// accepted says in words which values the parameter takes.
func (p Parameter) accepted() string {
	switch p.Kind {
	case Float:
		return fmt.Sprintf("a number from %s to %s", formatFloat(p.Low), formatFloat(p.High))
	case Int:
		return fmt.Sprintf("a whole number from %s to %s", formatFloat(p.Low), formatFloat(p.High))
	}
	quoted := make([]string, len(p.Choices))
	for i, c := range p.Choices {
		quoted[i] = strconv.Quote(c)
	}
	return "one of " + strings.Join(quoted, ", ")
}

func (p Parameter) rejected(value string) error {
	return fmt.Errorf("task: parameter %q: %s is not accepted; it takes %s", p.Name, value, p.accepted())
}

func (p Parameter) check(v Value) error {
	ok := v.kind == p.Kind
	switch p.Kind {
	case Float:
		ok = ok && v.float >= p.Low && v.float <= p.High
	case Int:
		ok = ok && v.int >= int64(p.Low) && v.int <= int64(p.High)
	case Categorical:
		ok = ok && slices.Contains(p.Choices, v.choice)
	}
	if ok {
		return nil
	}
	if v.kind == Categorical {
		return p.rejected(quote(v.choice))
	}
	return p.rejected(v.String())
}

// ParseDesign returns the design with the given values by name. Every parameter
// must be there and nothing else. Floats and ints are given as a Go number or a
// json.Number (an int also as a float that is whole), choices as a string.
func (s *Space) ParseDesign(values map[string]any) (Design, error) {
	for name := range values {
		if _, ok := s.index[name]; !ok {
			return Design{}, s.unknown(values)
		}
	}
	parsed := make([]Value, len(s.parameters))
	for i, p := range s.parameters {
		given, ok := values[p.Name]
		if !ok {
			return Design{}, fmt.Errorf("task: parameter %q: no value given; it takes %s", p.Name, p.accepted())
		}
		v, err := p.parse(given)
		if err != nil {
			return Design{}, err
		}
		parsed[i] = v
	}
	return Design{space: s, values: parsed}, nil
}

// unknown reports the first unknown name in alphabetical order, so that the same
// mistake always gives the same message.
func (s *Space) unknown(values map[string]any) error {
	var names []string
	for name := range values {
		if _, ok := s.index[name]; !ok {
			names = append(names, name)
		}
	}
	return fmt.Errorf("task: unknown parameter %s; accepted: %s", quote(slices.Min(names)), s.names())
}

func (p Parameter) parse(given any) (Value, error) {
	if p.Kind == Categorical {
		text, ok := given.(string)
		if !ok {
			return Value{}, p.rejected(describe(given))
		}
		return ChoiceValue(text), p.check(ChoiceValue(text))
	}
	if p.Kind == Int {
		if whole, ok := wholeNumber(given); ok {
			return IntValue(whole), p.check(IntValue(whole))
		}
		return Value{}, p.rejected(describe(given))
	}
	number, ok := number(given)
	if !ok {
		return Value{}, p.rejected(describe(given))
	}
	v := FloatValue(number)
	return v, p.check(v)
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

// wholeNumber accepts whole floats within 2^53, beyond which a float64 may have
// been rounded.
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

// maxDesignLen bounds the JSON of a design: 100 parameters of the longest choices,
// fully escaped, fit.
const maxDesignLen = 1 << 19

// UnmarshalDesign reads the JSON object that Design.MarshalJSON writes; see
// ParseDesign for what is accepted. A repeated name and text after the object
// are errors.
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
