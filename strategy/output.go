package strategy

import (
	"slices"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
)

var _ task.Measurement = (*Outcome)(nil)

// Measured implements task.Measurement: outputs other than the objective are the
// outcome's constraints.
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

// Measured returns what a trial has measured of an output: nothing unless it is done, and
// of a failed one that it does not complete.
func (t *Trial) Measured(output task.Output) (value float64, ok bool) {
	if output == task.Completion && t.State == Failed {
		return 0, true
	}
	if t.State != Done {
		return 0, false
	}
	return t.Outcome.Measured(output)
}

// Observed lists what trials of the task have measured of an output, as surrogates
// want it: encoded designs and values. Larger values of the objective are better, and those
// that have diverged are left out (surrogate.Diverged).
// Values of other outputs are as measured. Of completion nothing is observed before the
// first failure, since no outcome shows until then that it depends on the design. An outcome that
// has diverged is a failure.
func Observed(t *task.Task, trials []Trial, output task.Output) Observations {
	diverged := divergedOf(t, trials, output)
	return observed(t, trials, output, observations(trials, output, diverged), diverged)
}

// observed lists the observations of the trials in these places.
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

// divergedOf is Diverged for the outputs on which it bears; nil for others.
func divergedOf(t *task.Task, trials []Trial, output task.Output) []bool {
	if output != task.Objective && output != task.Completion {
		return nil
	}
	return Diverged(t, trials)
}

// observations returns the places in trials of what Observed lists.
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

// Diverged reports of each trial whether its outcome has diverged (surrogate.Diverged): models
// learn from it that the design fails, and nothing of the objective.
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

// Best returns the best feasible trial, of equal ones the first; nil when there is
// none. It points into trials.
func Best(t *task.Task, trials []Trial) *Trial {
	if best := BestOrLeastViolating(t, trials); best != nil && t.Feasible(best.Outcome) {
		return best
	}
	return nil
}

// BestOrLeastViolating returns the best feasible trial, or where there is none the trial of least
// violation, of equal ones the first; nil when no trial has an outcome. It points
// into trials.
func BestOrLeastViolating(t *task.Task, trials []Trial) (nearest *Trial) {
	for i := range trials {
		trial := &trials[i]
		if trial.State == Done && (nearest == nil || t.Better(trial.Outcome, nearest.Outcome)) {
			nearest = trial
		}
	}
	return nearest
}
