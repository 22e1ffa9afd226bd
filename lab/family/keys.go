package family

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Type is the type of a Key's value.
type Type string

// The types of keys.
const (
	Number Type = "number" // a finite real number from Low to High, which may be infinite
	Whole  Type = "whole"  // a whole number from Low to High
	Choice Type = "choice" // one of Choices
	Switch Type = "switch" // true or false
	Text   Type = "text"   // anything but the empty text
)

// Key is a key that a spec can set.
type Key struct {
	Name      string
	Type      Type
	Default   string // default value in canonical form; "" if Meaning describes the case without a value
	Meaning   string // a phrase without a full stop
	Low, High float64
	Choices   []string
}

// Accepts describes the accepted values, for example "0 to 1".
func (k Key) Accepts() string {
	switch k.Type {
	case Number:
		if math.IsInf(k.Low, -1) && math.IsInf(k.High, 1) {
			return "a number"
		}
		return fmt.Sprintf("%s to %s", decimal(k.Low), decimal(k.High))
	case Whole:
		return fmt.Sprintf("%s to %s, whole", decimal(k.Low), decimal(k.High))
	case Choice:
		return strings.Join(k.Choices, ", ")
	case Switch:
		return "true, false"
	default:
		return "a text without commas"
	}
}

// canonical returns the canonical form of a value, and whether the key accepts the value.
func (k Key) canonical(value string) (string, bool) {
	switch k.Type {
	case Number, Whole:
		v, err := strconv.ParseFloat(value, 64)
		inside := err == nil && !math.IsInf(v, 0) && v >= k.Low && v <= k.High && (k.Type == Number || v == math.Trunc(v))
		return decimal(v + 0), inside // + 0 turns -0 into 0
	case Choice:
		return value, slices.Contains(k.Choices, value)
	case Switch:
		return value, value == "true" || value == "false"
	default:
		return value, value != ""
	}
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Values holds the values of all keys of a kind: those of the spec, and the defaults of the others.
// Its methods panic if the kind does not have the key, or if the key has another type.
type Values struct {
	keys  []Key
	given map[string]string // values of the spec, in canonical form
}

// set sets a key from a text "key=value".
func (v Values) set(setting string) error {
	name, value, found := strings.Cut(setting, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	at := slices.IndexFunc(v.keys, func(k Key) bool { return k.Name == name })
	if !found || at < 0 {
		return fmt.Errorf("%q is not key=value with a known key; accepted keys: %s", strings.TrimSpace(setting), strings.Join(v.names(), ", "))
	}
	if _, twice := v.given[name]; twice {
		return fmt.Errorf("key %s is given twice", name)
	}
	canonical, ok := v.keys[at].canonical(value)
	if !ok {
		return fmt.Errorf("key %s: value %q is not accepted; accepted: %s", name, value, v.keys[at].Accepts())
	}
	v.given[name] = canonical
	return nil
}

func (v Values) names() []string {
	var all []string
	for _, k := range v.keys {
		all = append(all, k.Name)
	}
	return all
}

// canonical returns the part of a family's name after the kind, with the colon.
func (v Values) canonical() string {
	text, mark := "", ":"
	for _, k := range v.keys {
		if value, ok := v.given[k.Name]; ok && value != k.Default {
			text += mark + k.Name + "=" + value
			mark = ","
		}
	}
	return text
}

// Given reports whether the spec sets the key.
func (v Values) Given(name string) bool {
	_, ok := v.given[v.key(name).Name]
	return ok
}

// Number returns the value of a key of type Number, or NaN if the key has no value.
func (v Values) Number(name string) float64 {
	value, err := strconv.ParseFloat(v.text(name, Number), 64)
	if err != nil {
		return math.NaN()
	}
	return value
}

// Whole returns the value of a key of type Whole. It panics if the key has no value.
func (v Values) Whole(name string) int {
	value, err := strconv.ParseFloat(v.text(name, Whole), 64)
	if err != nil {
		panic(fmt.Sprintf("family: key %s has no value", name))
	}
	return int(value)
}

// Choice returns the value of a key of type Choice.
func (v Values) Choice(name string) string { return v.text(name, Choice) }

// Switch returns the value of a key of type Switch.
func (v Values) Switch(name string) bool { return v.text(name, Switch) == "true" }

// Text returns the value of a key of type Text, or "" if the key has no value.
func (v Values) Text(name string) string { return v.text(name, Text) }

func (v Values) text(name string, kind Type) string {
	key := v.key(name)
	if key.Type != kind {
		panic(fmt.Sprintf("family: key %s is a %s, not a %s", name, key.Type, kind))
	}
	if value, ok := v.given[name]; ok {
		return value
	}
	return key.Default
}

func (v Values) key(name string) Key {
	at := slices.IndexFunc(v.keys, func(k Key) bool { return k.Name == name })
	if at < 0 {
		panic("family: there is no key " + name)
	}
	return v.keys[at]
}
