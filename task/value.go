package task

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Kind is the kind of a parameter's values.
type Kind string

// The kinds of parameters.
const (
	Float       Kind = "float"       // a real number in [low, high]
	Int         Kind = "int"         // a whole number in [low, high]
	Categorical Kind = "categorical" // one of a list of choices
	Bool        Kind = "bool"        // true or false
)

// Value is the value of one parameter: a float, an int, a choice or a bool. Values
// are comparable with ==. The zero Value has no kind and belongs to no parameter.
type Value struct {
	kind   Kind
	float  float64
	int    int64
	choice string
	bool   bool
}

// FloatValue returns the value of a float parameter, or of a categorical one whose
// choices are numbers that are not all whole. Negative zero becomes zero.
func FloatValue(v float64) Value {
	if v == 0 {
		v = 0
	}
	return Value{kind: Float, float: v}
}

// IntValue returns the value of an int parameter, or of a categorical one whose
// choices are whole numbers.
func IntValue(v int64) Value { return Value{kind: Int, int: v} }

// ChoiceValue returns the value of a categorical parameter whose choices are texts.
func ChoiceValue(v string) Value { return Value{kind: Categorical, choice: v} }

// BoolValue returns the value of a bool parameter.
func BoolValue(v bool) Value { return Value{kind: Bool, bool: v} }

// Kind returns the kind of the value. It is the parameter's kind, with one exception: if the
// choices of a categorical parameter are numbers, its values are floats or ints.
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

// Bool returns the truth of a bool value; it panics on another kind.
func (v Value) Bool() bool {
	v.must(Bool)
	return v.bool
}

// size returns the number of a float or int.
func (v Value) size() float64 {
	if v.kind == Int {
		return float64(v.int)
	}
	return v.float
}

func (v Value) must(kind Kind) {
	if v.kind != kind {
		panic(fmt.Sprintf("task: %s value %s used as %s", v.kind, v, kind))
	}
}

// String returns the shortest text from which ParseValue gets the same value. A choice has no
// quotes. The text of the zero Value is empty.
func (v Value) String() string {
	switch v.kind {
	case Float:
		return formatFloat(v.float)
	case Int:
		return strconv.FormatInt(v.int, 10)
	case Categorical:
		return v.choice
	case Bool:
		return strconv.FormatBool(v.bool)
	}
	return ""
}

// MarshalJSON returns a JSON number for floats and ints, a string for choices, and true or false
// for bools. Floats that are not finite are an error.
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
	case Bool:
		return json.Marshal(v.bool)
	}
	return nil, fmt.Errorf("task: a value without a kind cannot be written as JSON")
}

// formatFloat formats a float. Numbers of ordinary size have no exponent, since commands may not
// accept one.
func formatFloat(v float64) string {
	if size := math.Abs(v); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
