package strategy

import (
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
)

var _ task.Measurement = (*Outcome)(nil)

// Measured implements task.Measurement. An output other than the objective and completion is a
// constraint of the outcome or, as a further objective, one of its metrics.
func (o *Outcome) Measured(output task.Output) (value float64, ok bool) {
	switch output {
	case task.Objective:
		return o.Value, true
	case task.Completion:
		return 1, true
	}
	if reading, ok := o.Constraints[string(output)]; ok {
		return reading.Float(), true
	}
	value, ok = o.Metrics[string(output)]
	return value, ok
}

// Measured returns the value of an output that a trial has measured. ok is false unless the trial
// is done. The output completion is an exception: it is 0 for failed trials, and 1 for stopped ones.
func (t *Trial) Measured(output task.Output) (value float64, ok bool) {
	switch {
	case t.State == Done:
		return t.Outcome.Measured(output)
	case output != task.Completion:
		return 0, false
	case t.State == Failed:
		return 0, true
	}
	return 1, t.State == StoppedEarly
}

// Observed returns the observations of an output as surrogates need them: encoded designs and
// values. Values of an objective are negated if the goal is minimize, so that larger is better.
// Trials with a diverged value of an objective are left out (surrogate.Diverged). Values of constraints are as
// measured. A stopped trial has no value of the objective; its observation is the final value that
// is predicted from its curve, with the deviation of the prediction (curves.Forecasts).
//
// The observations of Cost are logarithms ([LogCosts]).
//
// Completion has no observations before the first failure, since until then no outcome shows that
// it depends on the design. A diverged outcome counts as a failure.
func Observed(t *task.Task, trials []Trial, output task.Output) Observations {
	e := evidenceOf(t, trials, output)
	return e.observed(e.places())
}

// evidence is what all trials together show about an output.
type evidence struct {
	task      *task.Task
	trials    []Trial
	output    task.Output
	diverged  []bool            // the result of Diverged for objectives and completion, nil for other outputs
	forecasts []curves.Forecast // of the objective, by trial; nil if no trial was stopped
	logCosts  []float64         // the result of LogCosts for the cost, nil for other outputs
}

func evidenceOf(t *task.Task, trials []Trial, output task.Output) evidence {
	e := evidence{task: t, trials: trials, output: output}
	if t.IsObjective(output) || output == task.Completion {
		e.diverged = Diverged(t, trials)
	}
	if output == task.Objective && slices.ContainsFunc(trials, func(t Trial) bool { return t.State == StoppedEarly }) {
		e.forecasts = curves.Forecasts(t.Goal, Curves(trials, e.diverged))
	}
	if output == task.Cost {
		e.logCosts = LogCosts(trials)
	}
	return e
}

// Curves returns the curve of each trial, empty for failed and diverged ones. diverged may be nil.
func Curves(trials []Trial, diverged []bool) []CurveOfTrial {
	all := make([]CurveOfTrial, len(trials))
	for i := range trials {
		t := &trials[i]
		if t.State == Failed || diverged != nil && diverged[i] {
			continue
		}
		all[i].Curve = t.Steps
		if t.State == StoppedEarly && t.Stop.Forecast != nil {
			all[i].Forecast = &curves.Forecast{Mean: *t.Stop.Forecast, Deviation: t.Stop.Deviation}
		}
		if t.State == Done {
			all[i].Complete, all[i].Final = true, t.Outcome.Value
			all[i].Cut = t.Stop != nil && t.Stop.Rule == curves.PatienceRule
		}
	}
	return all
}

// value returns the observation of a trial, in the task's units.
func (e evidence) value(at int) (value float64, ok bool) {
	trial := &e.trials[at]
	switch {
	case e.output == task.Cost:
		return e.logCosts[at], !math.IsNaN(e.logCosts[at])
	case e.output == task.Objective && trial.State == StoppedEarly:
		return e.forecasts[at].Mean, true
	case e.output == task.Completion && e.diverged[at]:
		return 0, true
	case e.diverged != nil && e.diverged[at]:
		return 0, false
	}
	return trial.Measured(e.output)
}

// observed returns the observations of the trials with these indices.
func (e evidence) observed(places []int) (obs Observations) {
	sign := e.task.Sign(e.output)
	for _, at := range places {
		value, _ := e.value(at)
		obs.X = append(obs.X, e.task.Space.Encode(e.trials[at].Design))
		obs.Y = append(obs.Y, sign*value)
		if e.forecasts != nil {
			obs.Deviations = append(obs.Deviations, e.forecasts[at].Deviation)
		}
	}
	return obs
}

// places returns the indices of the trials that Observed lists.
func (e evidence) places() (places []int) {
	failed := func(t Trial) bool { return t.State == Failed }
	if e.output == task.Completion && !slices.ContainsFunc(e.trials, failed) && !slices.Contains(e.diverged, true) {
		return nil
	}
	for i := range e.trials {
		if _, ok := e.value(i); ok {
			places = append(places, i)
		}
	}
	return places
}

// Diverged reports for each trial whether its value of an objective has diverged
// (surrogate.Diverged). Models learn from such a trial that the design fails. They do not learn its
// values.
func Diverged(t *task.Task, trials []Trial) []bool {
	all := make([]bool, len(trials))
	for _, output := range t.ObjectiveOutputs() {
		var obs Observations
		var places []int
		for i, trial := range trials {
			if value, ok := trial.Measured(output); ok {
				obs.X = append(obs.X, t.Space.Encode(trial.Design))
				obs.Y = append(obs.Y, t.Sign(output)*value)
				places = append(places, i)
			}
		}
		for i, diverged := range surrogate.Diverged(obs) {
			all[places[i]] = all[places[i]] || diverged
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
