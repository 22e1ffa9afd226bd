package alone

import (
	"context"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
)

const (
	regretDeviations = 3  // from the mean to a bound
	regretPosteriors = 16 // with hyperparameters of their own, of which the largest bound counts
)

// RegretBound returns the model's upper bound on the simple regret of the best evaluated design, in
// the objective's units: the largest upper confidence bound of all designs less the largest lower
// one of the evaluated designs. It is the stopping criterion of Makarova et al., "Automatic
// Termination for Hyperparameter Optimization" (AutoML 2022). It is +Inf while there is no posterior
// or all outcomes are equal.
//
// A model with one set of hyperparameters is overconfident, so the bound is the largest of those
// under several sets, drawn from their posterior. Two standard deviations are too few: with them
// half of the runs on Hartmann's function that ended had a larger regret than the bound.
//
// The bound ignores constraints. The designs' values are without the noise of an evaluation, but
// noise keeps the bound at about six posterior standard deviations at the best design.
func RegretBound(ctx context.Context, view strategy.View, seed strategy.Seed) (float64, error) {
	scaled, ok := view.Posterior.(surrogate.Scaled)
	if !ok || scaled.Units().Scale == 0 { // no posterior, or all outcomes are the same
		return math.Inf(1), nil
	}
	s := search.New(view.Task)
	drawn, err := posteriors(ctx, view, regretPosteriors, seed.Stream("hyperparameters", 0))
	if err != nil {
		return 0, err
	}
	designs, largest := s.Feasible(view), math.Inf(-1)
	for i, p := range drawn {
		f := acquisition.UCB(p, regretDeviations*regretDeviations)
		_, upper, err := s.Maximizer.Maximize(ctx, f, s.Best(view), seed.Stream("bound", uint64(i)))
		if err != nil {
			return 0, err
		}
		lower, reached := acquisition.LCB(p, regretDeviations*regretDeviations), math.Inf(-1)
		for _, x := range designs {
			reached = max(reached, lower.Value(x))
		}
		largest = max(largest, upper-reached)
	}
	return scaled.Units().Scale * largest, nil
}
