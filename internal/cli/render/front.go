package render

import (
	"fmt"
	"maps"
	"strings"
	"text/tabwriter"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Goal returns the goal of a task, or that of each of several objectives.
func Goal(t *task.Task) string {
	if !t.Several() {
		return string(t.Goal)
	}
	var parts []string
	for _, o := range t.Objectives {
		parts = append(parts, string(o.Goal)+" "+o.Name)
	}
	return strings.Join(parts, " and ")
}

// Scores returns the objectives of an outcome with their values, such as "error=0.25 latency=30".
func Scores(t *task.Task, outcome *strategy.Outcome) string {
	var parts []string
	for i, output := range t.ObjectiveOutputs() {
		if value, ok := outcome.Measured(output); ok {
			parts = append(parts, t.Objectives[i].Name+"="+Number(value))
		}
	}
	return strings.Join(parts, " ")
}

// WithoutObjectives returns an outcome without the metrics that are objectives of the task.
func WithoutObjectives(t *task.Task, outcome *strategy.Outcome) *strategy.Outcome {
	if outcome == nil || !t.Several() {
		return outcome
	}
	rest := *outcome
	rest.Metrics = maps.Clone(rest.Metrics)
	maps.DeleteFunc(rest.Metrics, func(name string, _ float64) bool { return t.IsObjective(task.Output(name)) })
	return &rest
}

// FrontOf returns the Pareto front of a task with several objectives in the order of the first, and nil
// for a task with one.
func FrontOf(t *task.Task, trials []strategy.Trial) []*strategy.Trial {
	if !t.Several() {
		return nil
	}
	return strategy.SortedFront(t, trials)
}

// Front returns the Pareto front of a task with several objectives, a line for each design, in the order
// of the first objective; at most `most` lines, 0 for all. It is empty without a feasible outcome.
func Front(t *task.Task, trials []strategy.Trial, most int) string {
	front := FrontOf(t, trials)
	if len(front) == 0 {
		return ""
	}
	var b strings.Builder
	volume := ""
	if v, ok := strategy.Hypervolume(t, trials); ok {
		volume = ", hypervolume " + Number(v)
	}
	fmt.Fprintf(&b, "Pareto front: %s%s\n", sanitize.Count(len(front), "design"), volume)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "trial")
	for _, o := range t.Objectives {
		fmt.Fprintf(table, "\t%s", o.Name)
	}
	fmt.Fprint(table, "\tparameters\n")
	for i, trial := range front {
		if most > 0 && i == most {
			break
		}
		fmt.Fprint(table, trial.ID)
		for _, output := range t.ObjectiveOutputs() {
			value, _ := trial.Outcome.Measured(output)
			fmt.Fprintf(table, "\t%s", Number(value))
		}
		fmt.Fprintf(table, "\t%s\n", trial.Design)
	}
	_ = table.Flush() // a Builder returns no errors
	if most > 0 && len(front) > most {
		fmt.Fprintf(&b, "and %d more: fbo-node best\n", len(front)-most)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ShownFront is the maximum number of designs of a Pareto front in the summary of a run and in status.
const ShownFront = 10
