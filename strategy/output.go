package strategy

import (
	"github.com/fbo-node/fbo/surrogate"
	"github.com/fbo-node/fbo/task"
)

var _ task.Measurement = (*Outcome)(nil)

// Measured implements task.Measurement: outputs other than the objective are the
// outcome's constraints.
func (o *Outcome) Measured(output task.Output) (value float64, ok bool) {
	if output == task.Objective {
		return o.Value, true
	}
	value, ok = o.Constraints[string(output)]
	return value, ok
}

// Observed lists what trials of the task have measured of an output, as surrogates
// want it: encoded designs and values. A trial that has failed, or did not measure
// the output, gives no observation. Larger values of the objective are better. Values
// of other outputs are as measured, since a bound's limit is in the same units.
func Observed(t *task.Task, trials []Trial, output task.Output) surrogate.Observations {
	sign := 1.0
	if output == task.Objective {
		sign = t.Goal.Sign()
	}
	var obs surrogate.Observations
	for _, trial := range trials {
		if trial.State != Done {
			continue
		}
		if value, ok := trial.Outcome.Measured(output); ok {
			obs.X = append(obs.X, t.Space.Encode(trial.Design))
			obs.Y = append(obs.Y, sign*value)
		}
	}
	return obs
}

// Best returns the best trial with an outcome, of equal ones the first; nil when there
// is none but infeasible ones. It points into trials.
func Best(t *task.Task, trials []Trial) (best *Trial) {
	for i := range trials {
		if trial := &trials[i]; trial.State == Done && Improves(t, trial.Outcome, best) {
			best = trial
		}
	}
	return best
}

// Improves tells whether an outcome is better than that of the best trial so far, nil
// when there is none.
func Improves(t *task.Task, outcome *Outcome, best *Trial) bool {
	if best == nil {
		return t.Feasibility(outcome) != task.Infeasible
	}
	return t.Better(outcome, best.Outcome)
}
