package alone

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

const (
	// members is the number of posteriors, under hyperparameters of their own, that what
	// is maximised is averaged over.
	members = 4

	// memberOptima is how many samples of the optimum each of them has for the entropy.
	memberOptima = 2
)

// Engine is what a node does best alone. After the start noisy expected improvement and
// max-value entropy search ([MES]) take turns, both averaged over posteriors whose
// hyperparameters are drawn from their own posterior: Snoek, Larochelle and Adams,
// "Practical Bayesian Optimization of Machine Learning Algorithms" (NeurIPS 2012), section
// 3.1.
//
// Improvement finds narrow optima of many parameters soonest, and it stays where it once
// was successful: under noise the best design so far is better by luck, and fitted
// hyperparameters are surer than the observations. Entropy looks elsewhere when nearly
// nothing is left to gain where the best designs are.
//
// The improvement is that over the best value of a function drawn from the posterior, at
// the designs that were evaluated: Letham et al., "Constrained Bayesian Optimization with
// Noisy Experiments" (Bayesian Analysis, 2019), equation 6. There the outcome is
// conditioned on the drawn values, here it is not.
//
// While designs are pending it maximises the improvement only, by posteriors that take each of
// them for their own mean ([search.Search.WithPending]): what is under way informs.
//
// On a task with constraints it is as [LogEI] and MES are. A surrogate whose
// hyperparameters are known or are not learned has one posterior.
type Engine struct {
	search  search.Search
	entropy MES
}

var _ strategy.Strategy = Engine{}

// NewEngine returns the strategy for a task.
func NewEngine(t *task.Task) Engine { return Engine{search.New(t), NewMES(t)} }

// Suggest implements strategy.Strategy.
func (s Engine) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) || search.Uninformed(view) {
		return s.search.Start(view, trial, seed)
	}
	score := s.Improvement
	if s.SeeksInformation(view, trial) {
		score = s.Information
	}
	f, why, err := score(ctx, view, trial, seed)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	return s.search.Maximise(ctx, view, trial, seed, f, why)
}

// SeeksInformation reports whether Suggest maximises the information in this trial, and not the
// improvement. While designs are pending it does not: their outcomes inform.
func (s Engine) SeeksInformation(view strategy.View, trial uint64) bool {
	after := s.search.AfterStart(trial)
	return after > 0 && after%2 == 0 && len(s.search.Pending(view)) == 0
}

// Improvement is the logarithm of the average noisy expected improvement, or while no
// design is feasible that of the probability to be, and why it is maximised. The view has
// a posterior.
func (s Engine) Improvement(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (search.Function, strategy.Why, error) {
	view = s.search.WithPending(view)
	reached, limits := s.search.WithLikelyPending(view, s.search.Feasible(view)), search.Limits(view)
	if len(reached) == 0 && len(limits) > 0 {
		return acquisition.LogFeasibility(limits...), strategy.Why{Source: "feasibility", Phrase: "probability of feasibility"}, nil
	}
	posteriors, err := s.posteriors(ctx, view, trial, seed)
	if err != nil {
		return nil, strategy.Why{}, err
	}
	var gains []search.Function
	draws := seed.Derive("best so far", trial)
	for i, p := range posteriors {
		drawn := p.Draw(draws.Stream("draw", uint64(i)))
		best := math.Inf(-1)
		for _, x := range reached {
			best = max(best, drawn.Value(x))
		}
		gains = append(gains, acquisition.LogEI(p, best))
	}
	f := acquisition.LogMean(gains...)
	if len(limits) > 0 {
		f = acquisition.Sum(f, acquisition.LogFeasibility(limits...))
	}
	return f, strategy.Why{Source: "ei", Phrase: "expected improvement"}, nil
}

// Information is the logarithm of the average gain of information on the best value, and
// why it is maximised. The view has a posterior.
func (s Engine) Information(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (search.Function, strategy.Why, error) {
	view = s.search.WithPending(view)
	posteriors, err := s.posteriors(ctx, view, trial, seed)
	if err != nil {
		return nil, strategy.Why{}, err
	}
	var gains []search.Function
	draws := seed.Derive("optima", trial)
	for i, p := range posteriors {
		view.Posterior = p
		optima, err := s.entropy.optima(ctx, view, memberOptima, draws.Derive("member", uint64(i)))
		if err != nil {
			return nil, strategy.Why{}, err
		}
		gains = append(gains, acquisition.LogGain(p, optima, search.Limits(view)...))
	}
	return acquisition.LogMean(gains...), informationReason(), nil
}

// posteriors are those that improvement is averaged over.
func (s Engine) posteriors(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) ([]surrogate.Posterior, error) {
	return posteriors(ctx, view, members, seed.Stream("hyperparameters", trial))
}

// posteriors are so many of the view's, with hyperparameters drawn from what is known of
// them; the view's own where these are known or not learned.
func posteriors(ctx context.Context, view strategy.View, count int, rng *rand.Rand) ([]surrogate.Posterior, error) {
	ensemble, ok := view.Posterior.(surrogate.Ensemble)
	if !ok {
		return []surrogate.Posterior{view.Posterior}, nil
	}
	drawn, err := ensemble.Members(ctx, count, rng)
	if err != nil {
		return nil, err
	}
	return drawn, nil
}
