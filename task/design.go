package task

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Design is one point of a task's search space: a value for every active parameter. It is immutable, and
// always valid in the space that created it by [Space.Decode], [Space.NewDesign] or
// [Space.ParseDesign]. The zero Design has no values.
type Design struct {
	space  *Space
	values []Value // in the order of the space's parameters; the zero Value for inactive ones
}

// IsZero reports whether d is the zero Design.
func (d Design) IsZero() bool { return d.space == nil }

// Value returns the value of the named parameter, or the zero Value if it is inactive. It panics on
// an unknown name.
func (d Design) Value(name string) Value {
	if d.space != nil {
		if i, ok := d.space.index[name]; ok {
			return d.values[i]
		}
	}
	panic(fmt.Sprintf("task: the design has no parameter %q", name))
}

// Float returns the value of the named parameter, which must be a float or a choice
// among numbers that are not all whole; it panics on an unknown name or another kind.
func (d Design) Float(name string) float64 { return d.Value(name).Float() }

// Int returns the value of the named parameter, which must be an int or a choice
// among whole numbers; it panics on an unknown name or another kind.
func (d Design) Int(name string) int64 { return d.Value(name).Int() }

// Choice returns the value of the named parameter, which must be a choice among
// texts; it panics on an unknown name or another kind.
func (d Design) Choice(name string) string { return d.Value(name).Choice() }

// Bool returns the value of the named bool parameter; it panics on an unknown name
// or another kind.
func (d Design) Bool(name string) bool { return d.Value(name).Bool() }

// Active reports whether the named parameter is active: its conditions hold, and it has a value. It
// panics on an unknown name.
func (d Design) Active(name string) bool { return d.Value(name) != Value{} }

// Values returns a copy of the values, in the order of the space's parameters. Those of inactive
// parameters are zero.
func (d Design) Values() []Value { return slices.Clone(d.values) }

// Equal reports whether both designs have the same parameters, in the same order,
// with the same values.
func (d Design) Equal(other Design) bool {
	if d.IsZero() || other.IsZero() {
		return d.IsZero() == other.IsZero()
	}
	if !slices.Equal(d.values, other.values) {
		return false
	}
	return d.space == other.space || slices.EqualFunc(d.space.parameters, other.space.parameters,
		func(a, b Parameter) bool { return a.Name == b.Name })
}

// Key returns the design's JSON for use as a map key. Designs of one space have equal keys if and
// only if they are equal.
func (d Design) Key() string {
	text, err := d.MarshalJSON()
	if err != nil {
		panic(err) // cannot happen: a design has only finite numbers
	}
	return string(text)
}

// MarshalJSON writes the design as an object {"name": value, ...} in the order of the parameters,
// without the inactive ones; the zero Design is null. Space.UnmarshalDesign reads it.
func (d Design) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, v := range d.values {
		if v == (Value{}) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(d.space.parameters[i].Name))
		b.WriteByte(':')
		text, err := v.MarshalJSON()
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// String returns the design in a readable form, such as "learning_rate=0.01 batch_size=32".
func (d Design) String() string {
	if d.IsZero() {
		return "(no design)"
	}
	var parts []string
	for i, v := range d.values {
		if v == (Value{}) {
			continue
		}
		text := v.String()
		if v.kind == Categorical && strings.ContainsAny(text, " =\"") {
			text = strconv.Quote(text)
		}
		parts = append(parts, d.space.parameters[i].Name+"="+text)
	}
	return strings.Join(parts, " ")
}
