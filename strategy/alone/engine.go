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
	// members is the number of posteriors over which the acquisition function is averaged. Each has
	// its own hyperparameters.
	members = 4

	// memberOptima is the number of samples of the optimum's value per posterior, for entropy
	// search.
	memberOptima = 2
)

// Engine is the best strategy of a node without peers. After the starting designs it alternates
// between noisy expected improvement and max-value entropy search ([MES]). Both are averaged over
// posteriors whose hyperparameters are samples of the posterior of the hyperparameters: Snoek,
// Larochelle and Adams, "Practical Bayesian Optimization of Machine Learning Algorithms" (NeurIPS
// 2012), section 3.1.
//
// Expected improvement is the fastest to find narrow optima in many dimensions, but it keeps
// evaluating near the best observed design. Under noise that design is partly the best by chance,
// and fitted hyperparameters are overconfident. Entropy search explores other parts of the space
// when little improvement is left near the best designs. With few outcomes for the number of
// dimensions the optimum is uncertain everywhere, and entropy search evaluates designs at the border.
// So it takes no turn before there are as many outcomes as a quadratic function has coefficients.
//
// The improvement is measured over the best value of a function drawn from the posterior, at the
// evaluated designs: Letham et al., "Constrained Bayesian Optimization with Noisy Experiments"
// (Bayesian Analysis, 2019), equation 6. Unlike in that paper, the outcome of the candidate is not
// conditioned on the drawn values.
//
// While designs are pending, Engine maximises only the expected improvement, since pending outcomes
// will also give information. Its posteriors take each pending outcome as equal to the posterior
// mean ([search.Search.WithPending]).
//
// With several objectives Engine maximises the expected improvement of the hypervolume ([Engine.Volume]).
//
// Constraints are handled as by [LogEI] and [MES]. If the hyperparameters of the surrogate are
// known or not learned, the average has one posterior.
type Engine struct {
	search  search.Search
	entropy MES
}

var _ strategy.Strategy = Engine{}

// NewEngine returns the strategy for a task.
func NewEngine(t *task.Task) Engine { return Engine{search.New(t), NewMES(t)} }

// Suggest implements strategy.Strategy.
func (s Engine) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	return s.suggest(ctx, view, trial, seed, func() (search.Function, strategy.Why, error) {
		score := s.Improvement
		switch {
		case view.Task.Several():
			score = s.Volume
		case s.SeeksInformation(view, trial):
			score = s.Information
		}
		return score(ctx, view, trial, seed)
	})
}

// suggest returns a starting design or, after the start, the maximiser of the result of score.
func (s Engine) suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed, score func() (search.Function, strategy.Why, error)) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) || search.Uninformed(view) || view.Task.Several() && view.Objectives == nil {
		return s.search.Start(view, trial, seed)
	}
	f, why, err := score()
	if err != nil {
		return strategy.Suggestion{}, err
	}
	return s.search.Maximise(ctx, view, trial, seed, f, why)
}

// SeeksInformation reports whether Suggest uses entropy search in this trial instead of expected
// improvement. It returns false with fewer outcomes than the coefficients of a quadratic function,
// and while designs are pending, since their outcomes will give information.
func (s Engine) SeeksInformation(view strategy.View, trial uint64) bool {
	after, d := s.search.AfterStart(trial), view.Task.Space.Len()
	return after > 0 && after%2 == 0 && view.Observations >= (d+1)*(d+2)/2 && len(s.search.Pending(view)) == 0
}

// Improvement returns the logarithm of the average noisy expected improvement, and the Why of its
// maximiser. While no evaluated or pending design counts as feasible, it returns the logarithm of
// the probability of feasibility. The view must have a posterior.
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

// Information returns the logarithm of the average information gain about the optimum's value, and
// the Why of its maximiser. The view must have a posterior.
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

// posteriors returns the posteriors over which the acquisition functions are averaged.
func (s Engine) posteriors(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) ([]surrogate.Posterior, error) {
	return posteriors(ctx, view, members, seed.Stream("hyperparameters", trial))
}

// posteriors returns count posteriors of the view, with hyperparameters that are samples of their
// own posterior. If hyperparameters are known or not learned, it returns only the view's posterior.
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
