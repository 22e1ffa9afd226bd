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
	regretDeviations = 3  // posterior standard deviations between the mean and a confidence bound
	regretPosteriors = 16 // number of posteriors with sampled hyperparameters; the largest of their bounds is returned
)

// RegretBound returns the model's upper bound on the simple regret of the best evaluated design, in
// the objective's units. It is the maximum upper confidence bound over all designs, minus the
// maximum lower confidence bound over the evaluated designs. This is the stopping criterion of
// Makarova et al., "Automatic Termination for Hyperparameter Optimization" (AutoML 2022). The bound
// is +Inf while there is no posterior or all outcomes are equal.
//
// A model with one set of hyperparameters is overconfident. The function therefore returns the
// largest bound under several sets, which are samples of their posterior. Confidence bounds are
// three standard deviations from the mean. Two are too few: with two, half of the runs on
// Hartmann's function that the rule stopped had a larger regret than the bound.
//
// The bound ignores constraints. It refers to values without the noise of an evaluation. Noise
// still matters: the bound stays at about six posterior standard deviations at the best design.
func RegretBound(ctx context.Context, view strategy.View, seed strategy.Seed) (float64, error) {
	scaled, ok := view.Posterior.(surrogate.Scaled)
	if !ok || scaled.Units().Scale == 0 { // no posterior, or all outcomes are equal
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
