package main

import (
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// brokenText lists the constraints that an outcome breaks, as in "gap=0.08 (at most
// 0.05), converged=false"; empty when it is feasible.
func brokenText(t *task.Task, outcome *strategy.Outcome) string {
	var parts []string
	for _, c := range t.Constraints {
		if value, ok := outcome.Measured(c.Output); ok && !c.Keeps(value) {
			parts = append(parts, brokenPart(c, value))
		}
	}
	return strings.Join(parts, ", ")
}

func brokenPart(c task.Constraint, value float64) string {
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
	if broken := brokenText(t, trial.Outcome); broken != "" {
		return "no: " + broken
	}
	return "yes"
}

// nothingFeasible says how near trials have come to being feasible. Empty without an
// outcome, and when one of them is feasible.
func nothingFeasible(t *task.Task, trials []strategy.Trial) string {
	nearest := strategy.Nearest(t, trials)
	if nearest == nil {
		return ""
	}
	broken := brokenText(t, nearest.Outcome)
	if broken == "" {
		return ""
	}
	return fmt.Sprintf("nothing feasible yet; the least violation so far is that of trial %d: %s", nearest.ID, broken)
}

// infeasibleNearest is the trial of least violation while nothing is feasible; nil
// otherwise.
func infeasibleNearest(t *task.Task, trials []strategy.Trial) *strategy.Trial {
	if nearest := strategy.Nearest(t, trials); nearest != nil && !t.Feasible(nearest.Outcome) {
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
