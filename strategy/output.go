package strategy

import (
	"slices"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
)

var _ task.Measurement = (*Outcome)(nil)

// Measured implements task.Measurement. An output other than the objective and completion is a
// constraint of the outcome.
func (o *Outcome) Measured(output task.Output) (value float64, ok bool) {
	switch output {
	case task.Objective:
		return o.Value, true
	case task.Completion:
		return 1, true
	}
	reading, ok := o.Constraints[string(output)]
	return reading.Float(), ok
}

// Measured returns the value of an output that a trial has measured. ok is false unless the trial
// is done. The output completion is an exception: it is 0 for failed trials.
func (t *Trial) Measured(output task.Output) (value float64, ok bool) {
	if output == task.Completion && t.State == Failed {
		return 0, true
	}
	if t.State != Done {
		return 0, false
	}
	return t.Outcome.Measured(output)
}

// Observed returns the measurements of an output as surrogates need them: encoded designs and
// values. Values of the objective are negated if the goal is minimize, so that larger is better.
// Diverged values of the objective are left out (surrogate.Diverged). Values of constraints are as
// measured.
//
// Completion has no observations before the first failure, since until then no outcome shows that
// it depends on the design. A diverged outcome counts as a failure.
func Observed(t *task.Task, trials []Trial, output task.Output) Observations {
	diverged := divergedOf(t, trials, output)
	return observed(t, trials, output, observations(trials, output, diverged), diverged)
}

// observed returns the observations of the trials with these indices.
func observed(t *task.Task, trials []Trial, output task.Output, places []int, diverged []bool) (obs Observations) {
	sign := 1.0
	if output == task.Objective {
		sign = t.Goal.Sign()
	}
	for _, at := range places {
		value, _ := trials[at].Measured(output)
		if output == task.Completion && diverged[at] {
			value = 0
		}
		obs.X = append(obs.X, t.Space.Encode(trials[at].Design))
		obs.Y = append(obs.Y, sign*value)
	}
	return obs
}

// divergedOf returns the result of Diverged for the objective and completion, and nil for other
// outputs.
func divergedOf(t *task.Task, trials []Trial, output task.Output) []bool {
	if output != task.Objective && output != task.Completion {
		return nil
	}
	return Diverged(t, trials)
}

// observations returns the indices of the trials that Observed lists.
func observations(trials []Trial, output task.Output, diverged []bool) (places []int) {
	failed := func(t Trial) bool { return t.State == Failed }
	if output == task.Completion && !slices.ContainsFunc(trials, failed) && !slices.Contains(diverged, true) {
		return nil
	}
	for i := range trials {
		if _, ok := trials[i].Measured(output); ok && !(output == task.Objective && diverged[i]) {
			places = append(places, i)
		}
	}
	return places
}

// Diverged reports for each trial whether its value of the objective has diverged
// (surrogate.Diverged). Models learn from such a trial that the design fails. They do not learn its
// value.
func Diverged(t *task.Task, trials []Trial) []bool {
	var obs Observations
	for _, trial := range trials {
		if value, ok := trial.Measured(task.Objective); ok {
			obs.X = append(obs.X, t.Space.Encode(trial.Design))
			obs.Y = append(obs.Y, t.Goal.Sign()*value)
		}
	}
	diverged, all := surrogate.Diverged(obs), make([]bool, len(trials))
	for i, trial := range trials {
		if _, ok := trial.Measured(task.Objective); ok {
			all[i], diverged = diverged[0], diverged[1:]
		}
	}
	return all
}

// Best returns the best feasible trial, or the first of several equally good ones. It returns nil
// if no trial is feasible. The result points into trials.
func Best(t *task.Task, trials []Trial) *Trial {
	if best := BestOrLeastViolating(t, trials); best != nil && t.Feasible(best.Outcome) {
		return best
	}
	return nil
}

// BestOrLeastViolating returns the best feasible trial, or the trial with the smallest violation if
// none is feasible. Among equally good trials it returns the first. It returns nil if no trial has
// an outcome. The result points into trials.
func BestOrLeastViolating(t *task.Task, trials []Trial) (nearest *Trial) {
	for i := range trials {
		trial := &trials[i]
		if trial.State == Done && (nearest == nil || t.Better(trial.Outcome, nearest.Outcome)) {
			nearest = trial
		}
	}
	return nearest
}
