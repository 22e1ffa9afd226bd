package render

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// Newest writes the last value by step of a trial, as in "0.41 at step 12"; empty without one.
func Newest(trial strategy.Trial) string {
	if len(trial.Steps) == 0 {
		return ""
	}
	last := trial.Steps.Last()
	return fmt.Sprintf("%s at step %d", Number(last.Value), last.Step)
}

// ValueOrNewest writes the value of a trial for a cell or, while it has none, its last value by step.
// A failed trial has no value: its steps end before the failure.
func ValueOrNewest(trial strategy.Trial) string {
	if trial.Outcome == nil && trial.State != strategy.Failed && len(trial.Steps) > 0 {
		return "(" + Newest(trial) + ")"
	}
	return Value(trial)
}

// Steps writes the values by step of a trial in a line; empty without any.
func Steps(trial strategy.Trial) string {
	if len(trial.Steps) == 0 {
		return ""
	}
	text := sanitize.Count(len(trial.Steps), "value")
	if first := trial.Steps[0]; len(trial.Steps) > 1 {
		text += fmt.Sprintf(", from %s at step %d", Number(first.Value), first.Step)
		return text + " to " + Newest(trial)
	}
	return text + ", " + Newest(trial)
}

// maxStopReason is the maximum length of the reason of Stop, in characters. A journal has no longer ones.
const maxStopReason = 2000

// Stop writes the decision to stop a trial, with its rule and the step; empty without one.
func Stop(trial strategy.Trial) string {
	if trial.Stop == nil {
		return ""
	}
	text := fmt.Sprintf("%s at step %d", sanitize.Text(trial.Stop.Rule, MaxReason), trial.Stop.Step)
	if trial.Stop.Reason != "" {
		text += ": " + sanitize.Text(trial.Stop.Reason, maxStopReason)
	}
	return text
}
