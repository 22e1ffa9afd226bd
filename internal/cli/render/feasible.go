package render

import (
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Violations lists the constraints that an outcome violates, as in "gap=0.08 (at most
// 0.05), converged=false"; empty when it is feasible.
func Violations(t *task.Task, outcome *strategy.Outcome) string {
	var parts []string
	for _, c := range t.Constraints {
		if value, ok := outcome.Measured(c.Output); ok && !c.Keeps(value) {
			parts = append(parts, violation(c, value))
		}
	}
	return strings.Join(parts, ", ")
}

func violation(c task.Constraint, value float64) string {
	if c.Truth {
		return fmt.Sprintf("%s=false", c.Output)
	}
	return fmt.Sprintf("%s=%s (%s)", c.Output, Number(value), c)
}

// Feasible writes the cell of a trial in a table.
func Feasible(t *task.Task, trial strategy.Trial) string {
	if trial.Outcome == nil {
		return "-"
	}
	if violations := Violations(t, trial.Outcome); violations != "" {
		return "no: " + violations
	}
	return "yes"
}

// NothingFeasible writes the least violation of all trials. It is empty without an outcome, and
// when a trial is feasible.
func NothingFeasible(t *task.Task, trials []strategy.Trial) string {
	nearest := strategy.BestOrLeastViolating(t, trials)
	if nearest == nil {
		return ""
	}
	violations := Violations(t, nearest.Outcome)
	if violations == "" {
		return ""
	}
	return fmt.Sprintf("nothing feasible yet; the least violation so far is that of trial %d: %s", nearest.ID, violations)
}

// LeastViolation returns the trial of least violation while nothing is feasible; nil
// otherwise.
func LeastViolation(t *task.Task, trials []strategy.Trial) *strategy.Trial {
	if nearest := strategy.BestOrLeastViolating(t, trials); nearest != nil && !t.Feasible(nearest.Outcome) {
		return nearest
	}
	return nil
}
