// Package render writes values, trials and their reasons as text for people.
package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// Number writes a number with six digits.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// Exact writes a number with all its digits.
func Exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// ExactValue writes the value of a trial with all its digits; empty without an outcome.
func ExactValue(t strategy.Trial) string {
	if t.Outcome == nil {
		return ""
	}
	return Exact(t.Outcome.Value)
}

// Value writes the value of a trial for a line or a cell.
func Value(trial strategy.Trial) string {
	if trial.Outcome == nil {
		return "-"
	}
	return Number(trial.Outcome.Value)
}

// Cost writes the cost of a trial for a cell.
func Cost(trial strategy.Trial) string {
	if trial.Cost == nil {
		return "-"
	}
	return Number(*trial.Cost)
}

// Reason returns the reason of a failure for a line, and if it is too long, how to read all of it.
func Reason(trial strategy.Trial) string {
	short := sanitize.Text(trial.Reason, MaxReason)
	if utf8.RuneCountInString(trial.Reason) <= MaxReason {
		return short
	}
	return short + " (whole: fbo-node history --json)"
}

// MaxReason is the maximum length of the reason of a failure in a line, in characters. The path of
// a trial's output, at the end of the reason, has about 100.
const MaxReason = 200

// Why writes the reason for a design and, of a failed or stopped trial, the reason of its end.
func Why(trial strategy.Trial) string {
	switch {
	case trial.State == strategy.Failed:
		return trial.Why.String() + "; failed: " + Reason(trial)
	case trial.State == strategy.StoppedEarly && trial.Stop != nil && len(trial.Steps) > 0:
		return trial.Why.String() + "; stopped " + StoppedAt(trial)
	}
	return trial.Why.String()
}

// StoppedAt returns where a trial with a decision to stop has ended, and why.
func StoppedAt(trial strategy.Trial) string {
	last := trial.Steps.Last()
	text := fmt.Sprintf("at step %d with %s by rule %s", last.Step, Number(last.Value), sanitize.Text(trial.Stop.Rule, MaxReason))
	if trial.Stop.Reason != "" {
		text += ": " + sanitize.Text(trial.Stop.Reason, MaxReason)
	}
	return text
}

// Ends counts in brackets the evaluations that ended without an outcome.
func Ends(failed, stopped int) string {
	if stopped == 0 {
		return fmt.Sprintf("(%d failed)", failed)
	}
	return fmt.Sprintf("(%d failed, %d stopped early)", failed, stopped)
}

// Stopped returns the reason why a bound on the regret has ended a run.
func Stopped(s agent.Stopped) string {
	return fmt.Sprintf("stopped: after %s the best design lacks at most %s of the best there is, as far as this node's model knows; --stop-regret %s ended the run",
		sanitize.Count(s.Observations, "outcome"), Number(s.RegretBound), Number(s.StopRegret))
}

// Metrics lists an outcome's metrics by name, the first few when there are more
// than most; empty when there are none.
func Metrics(outcome *strategy.Outcome, most int) string {
	if outcome == nil {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(outcome.Metrics)) {
		if len(parts) == most {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, name+"="+Number(outcome.Metrics[name]))
	}
	return strings.Join(parts, " ")
}
