package main

import (
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// violationsText lists the constraints that an outcome violates, as in "gap=0.08 (at most
// 0.05), converged=false"; empty when it is feasible.
func violationsText(t *task.Task, outcome *strategy.Outcome) string {
	var parts []string
	for _, c := range t.Constraints {
		if value, ok := outcome.Measured(c.Output); ok && !c.Keeps(value) {
			parts = append(parts, violationText(c, value))
		}
	}
	return strings.Join(parts, ", ")
}

func violationText(c task.Constraint, value float64) string {
	if c.Truth {
		return fmt.Sprintf("%s=false", c.Output)
	}
	return fmt.Sprintf("%s=%s (%s)", c.Output, number(value), c)
}

// feasibleText is the cell of a trial in a table.
func feasibleText(t *task.Task, trial strategy.Trial) string {
	if trial.Outcome == nil {
		return "-"
	}
	if violations := violationsText(t, trial.Outcome); violations != "" {
		return "no: " + violations
	}
	return "yes"
}

// nothingFeasible says how near trials have come to being feasible. Empty without an
// outcome, and when one of them is feasible.
func nothingFeasible(t *task.Task, trials []strategy.Trial) string {
	nearest := strategy.BestOrLeastViolating(t, trials)
	if nearest == nil {
		return ""
	}
	violations := violationsText(t, nearest.Outcome)
	if violations == "" {
		return ""
	}
	return fmt.Sprintf("nothing feasible yet; the least violation so far is that of trial %d: %s", nearest.ID, violations)
}

// leastViolation is the trial of least violation while nothing is feasible; nil
// otherwise.
func leastViolation(t *task.Task, trials []strategy.Trial) *strategy.Trial {
	if nearest := strategy.BestOrLeastViolating(t, trials); nearest != nil && !t.Feasible(nearest.Outcome) {
		return nearest
	}
	return nil
}

func describeConstraint(c task.Constraint) string {
	if c.Truth {
		return fmt.Sprintf("%s: must be true; evaluations report true or false", c.Output)
	}
	return fmt.Sprintf("%s: %s; evaluations report it as a number", c.Output, c)
}
