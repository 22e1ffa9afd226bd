package alone

import (
	"context"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/pareto"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// ParEGO maximises the expected improvement of one random scalarisation of the objectives per trial:
// Knowles, "ParEGO: A Hybrid Algorithm with On-Line Landscape Approximation for Expensive Multiobjective
// Optimization Problems" (IEEE Transactions on Evolutionary Computation, 2006).
//
// Two things depart from the paper. The weights are uniform on the simplex, not of a lattice. The values
// are relative to the range of the front, not to known limits of the objectives. Constraints multiply the
// improvement by the probability of feasibility. With one objective ParEGO is [Engine].
type ParEGO struct{ engine Engine }

var _ strategy.Strategy = ParEGO{}

// NewParEGO returns the strategy for a task with several objectives.
func NewParEGO(t *task.Task) ParEGO { return ParEGO{NewEngine(t)} }

// Suggest implements strategy.Strategy.
func (s ParEGO) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if !view.Task.Several() {
		return s.engine.Suggest(ctx, view, trial, seed)
	}
	return s.engine.suggest(ctx, view, trial, seed, func() (search.Function, strategy.Why, error) {
		f, err := s.engine.frontOf(view)
		if err != nil || len(f.scores) == 0 {
			return s.engine.Volume(ctx, view, trial, seed)
		}
		return s.engine.scalarised(ctx, view, f, trial, seed)
	})
}

// scalarised returns the logarithm of the expected improvement of a random scalarisation, which has a
// model of its own. In it, the outcome of a pending design equals the mean.
func (s Engine) scalarised(ctx context.Context, view strategy.View, f front, trial uint64, seed strategy.Seed) (search.Function, strategy.Why, error) {
	scalar, evaluated, err := f.scalarise(ctx, view, seed.Stream("scalarisation", trial))
	if err != nil {
		return nil, strategy.Why{}, err
	}
	view = s.search.WithPending(view)
	limits := search.Limits(view)
	reached := s.search.WithLikelyPending(view, evaluated)
	if pending, ok := scalar.(surrogate.Pending); ok && len(f.pending) > 0 {
		if scalar, err = pending.WithPending(f.pending); err != nil {
			return nil, strategy.Why{}, err
		}
	}
	gain := acquisition.LogEI(scalar, BestMean(scalar, reached))
	if len(limits) > 0 {
		gain = acquisition.Sum(gain, acquisition.LogFeasibility(limits...))
	}
	return gain, strategy.Why{Source: "parego", Phrase: "expected improvement of a random scalarisation"}, nil
}

// scalarise returns a model of the objectives' scalarisation with random weights, and the encoded
// designs that it learns from.
func (f front) scalarise(ctx context.Context, view strategy.View, rng *rand.Rand) (scalar strategy.Posterior, evaluated [][]float64, err error) {
	obs := surrogate.Observations{Y: pareto.Chebyshev(f.scores, pareto.Weights(len(f.models), rng))}
	for i, at := range view.ExactlyModelled() {
		if f.counted[i] {
			obs.X = append(obs.X, view.Task.Space.Encode(view.Trials[at].Design))
		}
	}
	model, err := surrogate.New(view.Task)
	if err != nil {
		return nil, nil, err
	}
	h, err := model.Fit(ctx, obs, nil, rng)
	if err != nil {
		return nil, nil, err
	}
	scalar, err = model.Condition(obs, h, nil)
	return scalar, obs.X, err
}

// Scalarised returns the view of an agent whose objective is a random scalarisation of the objectives, with
// its model as Posterior. The weights are uniform on the simplex, as with [ParEGO]. ok is false while no
// evaluated design is feasible, or not all objectives have a posterior.
func (s Engine) Scalarised(ctx context.Context, view strategy.View, rng *rand.Rand) (scalar strategy.View, ok bool, err error) {
	if view.Objectives == nil {
		return view, false, nil
	}
	f, err := s.frontOf(view)
	if err != nil || len(f.scores) == 0 {
		return view, false, err
	}
	if view.Posterior, _, err = f.scalarise(ctx, view, rng); err != nil {
		return view, false, err
	}
	return view, true, nil
}
