package alone

import (
	"context"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

const (
	optima         = 10 // samples of the optimum's value
	sampleSearches = 16 // starting points of the search for a sample's maximum; few suffice, since only the value at the optimum matters

	// satisfied is the largest violation of the constraints at which a sample's maximum still
	// counts as feasible. A maximum on the boundary of a constraint violates it slightly
	// (acquisition.Penalised).
	satisfied = 0.01
)

// MES is max-value entropy search: Wang and Jegelka, "Max-value Entropy Search for Efficient
// Bayesian Optimization" (ICML 2017). It chooses the design whose outcome gives most information
// about the optimum's value. The distribution of that value is represented by samples from the
// posterior.
//
// On a task with constraints, the optimum is the best feasible design: Perrone et al., "Constrained
// Bayesian Optimization with Max-Value Entropy Search" (2019). If a posterior sample has no
// feasible design, only the information about the constraints counts. MES therefore searches for
// feasible designs as long as there may be none.
//
// Sampled optima have a floor: the posterior mean plus two standard deviations at each evaluated
// feasible design. The information gain is that of an outcome without noise. Without the floor, a
// sampled optimum may lie below the value of an evaluated design. The gain at that design would
// then be large however well it is known, and the search would stay there. The code of Wang and
// Jegelka also has a floor, the largest observation plus five standard deviations of the noise. On
// smooth functions their floor soon exceeds all samples, and the search then chooses the design
// with the largest uncertainty.
type MES struct {
	search search.Search
	sample acquisition.Maximizer
}

var _ strategy.Strategy = MES{}

// NewMES returns the strategy for a task.
func NewMES(t *task.Task) MES {
	return MES{search.New(t), acquisition.Maximizer{Space: t.Space, Searches: sampleSearches}}
}

// Suggest implements strategy.Strategy.
func (s MES) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) || search.Uninformed(view) {
		return s.search.Start(view, trial, seed)
	}
	known := s.search.WithPending(view)
	optima, err := s.optima(ctx, known, optima, seed.Derive("optima", trial))
	if err != nil {
		return strategy.Suggestion{}, err
	}
	f := acquisition.LogGain(known.Posterior, optima, search.Limits(known)...)
	return s.search.Maximise(ctx, view, trial, seed, f, informationReason())
}

// informationReason returns the Why of a design that entropy search has chosen.
func informationReason() strategy.Why {
	return strategy.Why{Source: "entropy", Phrase: "information on the best value"}
}

// optima returns count samples of the value of the best feasible design, or -Inf for a sample
// without a feasible design if there is no floor. The only error is that of ctx.
func (s MES) optima(ctx context.Context, view strategy.View, count int, seed strategy.Seed) ([]float64, error) {
	floor, bound := math.Inf(-1), acquisition.UCB(view.Posterior, confidence*confidence)
	for _, x := range s.search.BestFeasible(view) {
		floor = max(floor, bound.Value(x))
	}
	near := s.search.Best(view)
	values := make([]float64, count)
	for i := range values {
		sample, bounded := search.Sample(view, seed, "sample", uint64(i))
		f := acquisition.Penalised(sample, bounded...)
		x, _, err := s.sample.Maximize(ctx, f, near, seed.Stream("maximise", uint64(i)))
		if err != nil {
			return nil, err
		}
		values[i] = floor
		if math.Sqrt(acquisition.Violation(x, bounded...)) <= satisfied {
			values[i] = max(sample.Value(x), floor)
		}
	}
	return values, nil
}
