package task

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Kind says what values a parameter takes.
type Kind string

// The kinds of parameters.
const (
	Float       Kind = "float"       // a real number in [low, high]
	Int         Kind = "int"         // a whole number in [low, high]
	Categorical Kind = "categorical" // one of a list of choices
)

// Value is the value of one parameter: a float, an int or a choice. Values are
// comparable with ==. The zero Value has no kind and belongs to no parameter.
type Value struct {
	kind   Kind
	float  float64
	int    int64
	choice string
}

// FloatValue returns the value of a float parameter. Negative zero becomes zero.
func FloatValue(v float64) Value {
	if v == 0 {
		v = 0
	}
	return Value{kind: Float, float: v}
}

// IntValue returns the value of an int parameter.
func IntValue(v int64) Value { return Value{kind: Int, int: v} }

// ChoiceValue returns the value of a categorical parameter.
func ChoiceValue(v string) Value { return Value{kind: Categorical, choice: v} }

// Kind returns the kind of parameter that the value is for.
func (v Value) Kind() Kind { return v.kind }

// Float returns the number of a float value; it panics on another kind.
func (v Value) Float() float64 {
	v.must(Float)
	return v.float
}

// Int returns the number of an int value; it panics on another kind.
func (v Value) Int() int64 {
	v.must(Int)
	return v.int
}

// Choice returns the text of a categorical value; it panics on another kind.
func (v Value) Choice() string {
	v.must(Categorical)
	return v.choice
}

func (v Value) must(kind Kind) {
	if v.kind != kind {
		panic(fmt.Sprintf("task: %s value %s used as %s", v.kind, v, kind))
	}
}

// String returns the shortest text that gives the same value when it is read
// back. A choice is returned as it is, without quotes.
func (v Value) String() string {
	switch v.kind {
	case Float:
		return formatFloat(v.float)
	case Int:
		return strconv.FormatInt(v.int, 10)
	case Categorical:
		return v.choice
	}
	return "(no value)"
}

// MarshalJSON returns a JSON number for floats and ints and a string for
// choices. Floats that are not finite cannot be written.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.kind {
	case Float:
		if math.IsNaN(v.float) || math.IsInf(v.float, 0) {
			return nil, fmt.Errorf("task: %v cannot be written as JSON", v.float)
		}
		return json.Marshal(v.float)
	case Int:
		return json.Marshal(v.int)
	case Categorical:
		return marshal(v.choice)
	}
	return nil, fmt.Errorf("task: a value without a kind cannot be written as JSON")
}

// formatFloat writes ordinary sizes without an exponent, since values are
// handed to commands that may not read one.
func formatFloat(v float64) string {
	if size := math.Abs(v); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
