package task

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Reading is the value that an evaluation reports for a constraint: a number or a truth value. Its
// JSON is that number or truth value. Readings are comparable with ==; the zero Reading is the
// number 0.
type Reading struct {
	value float64
	truth bool
}

// Number returns a reading that is a number.
func Number(value float64) Reading { return Reading{value: value} }

// Truth returns a reading that is a truth value; true means that the constraint is satisfied.
func Truth(kept bool) Reading {
	if kept {
		return Reading{value: 1, truth: true}
	}
	return Reading{truth: true}
}

// IsTruth reports whether the reading is a truth value rather than a number.
func (r Reading) IsTruth() bool { return r.truth }

// Float returns the number, or for a truth value 1 (true) or 0 (false).
func (r Reading) Float() float64 { return r.value }

func (r Reading) String() string {
	if r.truth {
		return strconv.FormatBool(r.value == 1)
	}
	return strconv.FormatFloat(r.value, 'g', -1, 64)
}

// MarshalJSON implements json.Marshaler.
func (r Reading) MarshalJSON() ([]byte, error) {
	if r.truth {
		return json.Marshal(r.value == 1)
	}
	return json.Marshal(r.value)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Reading) UnmarshalJSON(data []byte) error {
	var kept bool
	if err := json.Unmarshal(data, &kept); err == nil && string(data) != "null" {
		*r = Truth(kept)
		return nil
	}
	var value *float64
	if err := json.Unmarshal(data, &value); err != nil || value == nil {
		return fmt.Errorf("%s is neither a number nor true or false", data)
	}
	*r = Number(*value)
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
