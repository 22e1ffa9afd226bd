// Package alone chooses designs from the agent's own posterior alone, by
// the largest expected improvement over the best one so far, [LogEI], by the
// largest upper confidence bound, [UCB], by the most information on the best value,
// [MES], by Thompson sampling, [TS], or by improvement and information in turn, [Engine]. None uses
// shares of peers.
//
// Source of expected improvement: Jones, Schonlau, Welch, "Efficient Global Optimization of Expensive
// Black-Box Functions" (Journal of Global Optimization, 1998), maximised through
// its logarithm after Ament et al., "Unexpected Improvements to Expected
// Improvement for Bayesian Optimization" (NeurIPS 2023). The best so far is the
// largest posterior mean at an own design rather than the largest observation,
// which under noise is mostly luck. Source of the bound: Srinivas et al.,
// "Gaussian Process Optimization in the Bandit Setting: No Regret and
// Experimental Design" (ICML 2010), here without the growth of its confidence,
// and so without the regret that they prove; a task may have it grow by constants of its
// own ([UCBSettings]).
package alone

import (
	"context"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// LogEI is the expected improvement over the best design so far, by its logarithm. On a
// task with constraints it is the improvement over the best feasible design times the
// probability of being feasible, and that probability alone while no design is known
// to be: Gelbart, Snoek and Adams, "Bayesian Optimization with Unknown Constraints"
// (UAI 2014), section 3, as in Perrone et al., "Fair Bayesian Optimization" (AIES
// 2021), algorithm 1.
type LogEI struct {
	search search.Search
}

var _ strategy.Strategy = LogEI{}

// NewLogEI returns the strategy for a task.
func NewLogEI(t *task.Task) LogEI { return LogEI{search.New(t)} }

// WithoutCentre returns the strategy with the starting designs of [search.Search.WithoutCentre].
func (s LogEI) WithoutCentre() LogEI { return LogEI{s.search.WithoutCentre()} }

// Suggest implements strategy.Strategy.
func (s LogEI) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) || search.Uninformed(view) {
		return s.search.Start(view, trial, seed)
	}
	f, why := s.Score(view)
	return s.search.Maximise(ctx, view, trial, seed, f, why)
}

// Score returns the function that Suggest maximises, and the reason of its maximiser. The view
// must have a posterior.
func (s LogEI) Score(view strategy.View) (search.Function, strategy.Why) {
	view = s.search.WithPending(view)
	reached, limits := s.search.WithLikelyPending(view, s.search.BestFeasible(view)), search.Limits(view)
	if len(reached) == 0 && len(limits) > 0 {
		return acquisition.LogFeasibility(limits...), strategy.Why{Source: "feasibility", Phrase: "probability of feasibility"}
	}
	why := strategy.Why{Source: "ei", Phrase: "expected improvement"}
	f := acquisition.LogEI(view.Posterior, BestMean(view.Posterior, reached))
	if len(limits) == 0 {
		return f, why
	}
	return acquisition.Sum(f, acquisition.LogFeasibility(limits...)), why
}

// BestMean returns the largest posterior mean at one of the encoded designs, -Inf if there is
// none.
func BestMean(posterior search.Predictor, designs [][]float64) float64 {
	best := math.Inf(-1)
	for _, x := range designs {
		mean, _ := posterior.Predict(x)
		best = max(best, mean)
	}
	return best
}
