package sums

import (
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/multitask"
	"github.com/fbo-node/fbo/strategy"
)

// modelUnits returns the level and the size of the node's objective by generalised least squares under
// the kernel of its model. They depend less than [unitsOf] on which designs the node has evaluated, so
// that the outputs of different nodes are comparable. A task with fixed hyperparameters has units of
// its own. Without a model modelUnits returns unitsOf. y are the outputs of the trials.
func modelUnits(view strategy.View, y []float64, trials []*strategy.Trial) units {
	obs := surrogate.Observations{Y: y}
	for _, trial := range trials {
		obs.X = append(obs.X, view.Task.Space.Encode(trial.Design))
	}
	standardised, own, err := surrogate.Outputs(view.Task, obs)
	if err != nil || own.Scale == 0 {
		return unitsOf(y)
	}
	if view.Task.Surrogate.Fixed != nil {
		return units{Level: own.Level, Scale: own.Scale}
	}
	if view.Posterior == nil {
		return unitsOf(y)
	}
	h := view.Posterior.Hyperparameters().Process()
	if len(h.Lengthscales) == 0 {
		h.Lengthscales = surrogate.InitialLengthscales(view.Task)
	}
	level, size := multitask.LevelAndSize(surrogate.ProcessSpec(view.Task), h, multitask.Data{X: obs.X, Y: standardised})
	if u := (units{Level: own.Output(level), Scale: own.Scale * size}); u.valid() {
		return u
	}
	return unitsOf(y)
}
