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

// RegretBound is an upper bound, in the objective's units, of what the best design that was
// evaluated lacks of the best one of the space, as far as the model knows: the largest
// upper confidence bound of all designs less the largest lower one of those evaluated.
// Makarova et al., "Automatic Termination for Hyperparameter Optimization" (AutoML 2022),
// stop by it. It is +Inf while there is nothing to go by.
//
// A model with one set of hyperparameters is too sure of them, so the bound is the largest
// of those under several sets, drawn from what is known of them; and two standard deviations
// are too few: with them half of the runs on Hartmann's function that ended lacked more
// than the bound.
//
// It takes no notice of constraints. The designs' values are without the noise of an
// evaluation, but noise keeps the bound up: about six standard deviations of what is left
// of it at the best design.
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
