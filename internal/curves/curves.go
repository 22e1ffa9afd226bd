// Package curves has the values that an evaluation reports before its end, one per step, such as the
// validation error after each epoch.
//
// [Extend] checks reported values, [Decide] applies the rules of task.Stopping to one curve beside
// others, and [Forecast] predicts the final values of curves that were stopped. All are pure
// functions. The package does not know trials.
package curves

import (
	"errors"
	"fmt"
	"math"
	"sort"
)

// Step is the value of the objective at a step of an evaluation, in the task's own units.
type Step struct {
	Step  uint64  `json:"step"` // 1 to MaxStep
	Value float64 `json:"value"`
	// Cost is that of the evaluation until this step, in a unit of the user's; nil if it is unknown. It
	// becomes the cost of the trial, and a Curve has none.
	Cost *float64 `json:"cost,omitempty"`
}

// Curve has the steps of one evaluation in ascending order.
type Curve []Step

// Limits of the curve of one trial.
const (
	MaxSteps = 1000 // values
	MaxStep  = 1_000_000_000
)

// ErrBadStep means that a reported value is not accepted.
var ErrBadStep = errors.New("step value is not accepted")

// Extend returns the curve with the reported values. A value that the curve has already changes
// nothing, so reports can be repeated. An evaluation that is attempted again may start at an earlier
// step: the curve keeps the first value of each step and ignores the others. The accepted values
// before an error are in the result. Error: ErrBadStep.
func (c Curve) Extend(reported []Step, again bool) (Curve, error) {
	for _, s := range reported {
		last := uint64(0)
		if len(c) > 0 {
			last = c[len(c)-1].Step
		}
		switch {
		case s.Step == 0 || s.Step > MaxStep:
			return c, fmt.Errorf("%w: step %d; expected 1 to %d", ErrBadStep, s.Step, MaxStep)
		case math.IsNaN(s.Value) || math.IsInf(s.Value, 0):
			return c, fmt.Errorf("%w: value %g at step %d is not a finite number", ErrBadStep, s.Value, s.Step)
		case s.Step > last && len(c) == MaxSteps:
			return c, fmt.Errorf("%w: the trial has %d values; expected fewer, such as one in ten steps", ErrBadStep, MaxSteps)
		case s.Step > last:
			c = append(c[:len(c):len(c)], Step{Step: s.Step, Value: s.Value})
		default:
			if value, ok := c.at(s.Step); !again && (!ok || value != s.Value) {
				return c, fmt.Errorf("%w: step %d with value %g after step %d; expected increasing steps", ErrBadStep, s.Step, s.Value, last)
			}
		}
	}
	return c, nil
}

// Check returns an error unless the curve could come from Extend. Error: ErrBadStep.
func (c Curve) Check() error {
	_, err := Curve(nil).Extend(c, false)
	return err
}

// at returns the value at exactly this step.
func (c Curve) at(step uint64) (float64, bool) {
	i := c.first(step)
	if i == len(c) || c[i].Step != step {
		return 0, false
	}
	return c[i].Value, true
}

// first returns the index of the first value at this step or later.
func (c Curve) first(step uint64) int {
	return sort.Search(len(c), func(i int) bool { return c[i].Step >= step })
}

// Between returns the value at a step by linear interpolation. ok is false outside of the curve.
func (c Curve) Between(step uint64) (value float64, ok bool) {
	i := c.first(step)
	switch {
	case i == len(c) || i == 0 && c[0].Step != step:
		return 0, false
	case c[i].Step == step:
		return c[i].Value, true
	}
	a, b := c[i-1], c[i]
	return a.Value + (b.Value-a.Value)*float64(step-a.Step)/float64(b.Step-a.Step), true
}

// Last returns the last step. The curve must not be empty.
func (c Curve) Last() Step { return c[len(c)-1] }
