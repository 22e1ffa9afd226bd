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
	sampleSearches = 16 // for each: its value is wanted, and not exactly where it is

	// fulfilled is by how much a sample may break limits and be feasible, since a maximum
	// on a border breaks them a little (acquisition.Penalised).
	satisfied = 0.01
)

// MES is max-value entropy search: the design whose outcome tells most of the value of the
// optimum, by samples of that value from the posterior. Wang and Jegelka, "Max-value
// Entropy Search for Efficient Bayesian Optimization" (ICML 2017). On a task with
// constraints it is the value of the best feasible design: Perrone et al., "Constrained
// Bayesian Optimization with Max-Value Entropy Search" (2019). Where a sample has no
// feasible design, only what is told of the constraints counts, so that feasible designs
// are looked for as long as there may be none.
//
// No sampled optimum is below what a feasible design that was evaluated may have, its
// posterior mean and two deviations. The gain is that of an outcome without noise: where a
// sample says that the optimum is less than a design that is known, it is large there
// however well the design is known, and the search would stay. The code of Wang and Jegelka
// has a floor too, the largest observation and five deviations of the noise: on smooth
// functions it soon exceeds all samples, and the search goes where it knows least.
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

// informationReason returns the reason of a design that was chosen by entropy.
func informationReason() strategy.Why {
	return strategy.Why{Source: "entropy", Phrase: "information on the best value"}
}

// optima returns count samples of the value of the best feasible design, -Inf where there
// is none. Its error is that of ctx.
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
