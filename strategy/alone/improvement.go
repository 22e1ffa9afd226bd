// Package alone contains strategies that choose designs from the agent's own posterior and use no
// shares of peers. [LogEI] maximises the expected improvement, [UCB] the upper confidence bound and
// [MES] the information about the optimum's value. [TS] is Thompson sampling. [Engine] alternates
// between improvement and information.
//
// Expected improvement: Jones, Schonlau, Welch, "Efficient Global Optimization of Expensive
// Black-Box Functions" (Journal of Global Optimization, 1998). Its logarithm is maximised, after
// Ament et al., "Unexpected Improvements to Expected Improvement for Bayesian Optimization"
// (NeurIPS 2023). The incumbent is the evaluated design with the largest posterior mean. It is not
// the one with the largest observation, which under noise is the largest mostly by chance. The
// improvement is that over the function's value there, so another evaluation of the incumbent
// improves nothing.
//
// Upper confidence bound: Srinivas et al., "Gaussian Process Optimization in the Bandit Setting: No
// Regret and Experimental Design" (ICML 2010). Here its confidence parameter is constant, so their
// regret bound does not hold. A task may set a parameter that grows with the trial number
// ([UCBSettings]).
package alone

import (
	"context"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// LogEI maximises the logarithm of the expected improvement over the best evaluated design. On a
// task with constraints it maximises the improvement over the best feasible design times the
// probability of feasibility. While no design is known to be feasible, it maximises that
// probability alone: Gelbart, Snoek and Adams, "Bayesian Optimization with Unknown Constraints"
// (UAI 2014), section 3, as in Perrone et al., "Fair Bayesian Optimization" (AIES 2021), algorithm
// 1.
//
// With [LogEISettings] the improvement is divided by the predicted cost: Snoek, Larochelle and Adams,
// "Practical Bayesian Optimization of Machine Learning Algorithms" (NeurIPS 2012), section 3.2. The cost
// is modelled by its logarithm, and its prediction is the exponential of the mean. The probability of
// feasibility alone is not divided.
type LogEI struct {
	search  search.Search
	initial int
	perCost bool
}

var (
	_ strategy.Strategy = LogEI{}
	_ strategy.CostUser = LogEI{}
)

// LogEISettings are the keys of a task file for strategy logei. Without them, or with false, the task's
// settings are nil.
type LogEISettings struct {
	PerCost bool // maximise the improvement per unit of cost
}

func readLogEISettings(s *task.Section) task.StrategySettings {
	if !s.Flag(perCostKey) {
		return nil
	}
	return LogEISettings{PerCost: true}
}

const perCostKey = "per_cost"

// Keys implements task.StrategySettings.
func (s LogEISettings) Keys() map[string]any { return map[string]any{perCostKey: s.PerCost} }

// NewLogEI returns the strategy for a task. Other strategies use LogEI for their own candidates. On
// their tasks it does not use costs.
func NewLogEI(t *task.Task) LogEI {
	settings, _ := t.Strategy.Settings.(LogEISettings)
	return LogEI{search.New(t), t.Strategy.InitialDesigns, settings.PerCost}
}

// WithoutCentre returns the strategy with the starting designs of [search.Search.WithoutCentre].
func (s LogEI) WithoutCentre() LogEI {
	s.search = s.search.WithoutCentre()
	return s
}

// UsesCost implements strategy.CostUser.
func (s LogEI) UsesCost() bool { return s.perCost }

// Suggest implements strategy.Strategy.
func (s LogEI) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) || search.Uninformed(view) {
		return s.search.Start(view, trial, seed)
	}
	f, why := s.Score(view)
	if less, ok := s.minusLogCost(view); ok && why.Source == "ei" {
		f, why.Phrase = acquisition.Sum(f, less), "expected improvement per cost"
	}
	return s.search.Maximise(ctx, view, trial, seed, f, why)
}

// minusLogCost returns the negated mean of the logarithm of the cost, up to a constant. ok is false while
// fewer trials than the starting designs have a cost.
func (s LogEI) minusLogCost(view strategy.View) (f search.Function, ok bool) {
	scaled, ok := view.Cost.(surrogate.Scaled)
	if !s.perCost || !ok || strategy.CountCosts(view.Trials) < s.initial {
		return nil, false
	}
	return acquisition.Times(acquisition.Mean(scaled), -scaled.Units().Scale), true
}

// surelyFeasible is the probability of feasibility below which an incumbent lies near a limit. Then
// the improvement is over a known number: if it vanished near the incumbent, the product with the
// probability would be largest at designs that are likely to be infeasible.
const surelyFeasible = 0.99

// Score returns the function that Suggest maximises, and the Why of its maximiser. The view must
// have a posterior.
func (s LogEI) Score(view strategy.View) (search.Function, strategy.Why) {
	view = s.search.WithPending(view)
	reached, limits := s.search.WithLikelyPending(view, s.search.BestFeasible(view)), search.Limits(view)
	if len(reached) == 0 && len(limits) > 0 {
		return acquisition.LogFeasibility(limits...), strategy.Why{Source: "feasibility", Phrase: "probability of feasibility"}
	}
	why := strategy.Why{Source: "ei", Phrase: "expected improvement"}
	if len(limits) == 0 {
		return acquisition.LogEI(overIncumbent(view.Posterior, reached)), why
	}
	feasible := acquisition.LogFeasibility(limits...)
	best, incumbent := bestMean(view.Posterior, reached)
	f := acquisition.LogEI(view.Posterior, best)
	if incumbent == nil || feasible.Value(incumbent) > math.Log(surelyFeasible) {
		f = acquisition.LogEI(overIncumbent(view.Posterior, reached))
	}
	return acquisition.Sum(f, feasible), why
}

// BestMean returns the largest posterior mean at the encoded designs. It returns -Inf if designs is
// empty.
func BestMean(posterior search.Predictor, designs [][]float64) float64 {
	best, _ := bestMean(posterior, designs)
	return best
}

// bestMean returns the largest posterior mean at the encoded designs, and the first design that has
// it. It returns -Inf and nil if designs is empty.
func bestMean(posterior search.Predictor, designs [][]float64) (best float64, design []float64) {
	best = math.Inf(-1)
	for _, x := range designs {
		if mean, _ := posterior.Predict(x); mean > best {
			best, design = mean, x
		}
	}
	return best, design
}
