package constrainedgp

import (
	"context"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// aroundClaims is the maximum number of claimed designs from which the Maximizer starts its search.
// The best own designs are further starts.
const aroundClaims = 3

// Strategy maximises the expected improvement, given that shared designs are better than all
// designs that the agent has found. It is immutable.
type Strategy struct {
	task   *task.Task
	search search.Search
	alone  alone.LogEI
	passes comparison
	follow func(s Strategy, ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error)
}

var _ strategy.Strategy = Strategy{}

// New returns the strategy of a task of type constrained-gp whose nodes share designs.
func New(t *task.Task) Strategy {
	return Strategy{task: t, search: search.New(t), alone: alone.NewLogEI(t), passes: exceeds, follow: Strategy.byDesigns}
}

// newByLabels returns the strategy of a task whose nodes share only which of their designs were
// feasible.
func newByLabels(t *task.Task) Strategy {
	s := New(t)
	s.follow = Strategy.byLabels
	return s
}

// Suggest implements strategy.Strategy. It suggests exactly the design of alone.LogEI for the same
// view, trial and seed in three cases: all claims were dropped, the maximiser was tried before, or
// the posterior is not a surrogate.JointPosterior.
func (s Strategy) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	return s.follow(s, ctx, view, trial, seed)
}

// byDesigns chooses the design after the starting designs if peers share designs.
func (s Strategy) byDesigns(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	f, claims, err := s.score(ctx, view, trial, seed)
	if err != nil {
		return strategy.Suggestion{}, err
	}
	if len(claims) == 0 {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	why := strategy.Why{Source: "designs", Phrase: "expected improvement, given the prior designs"}
	for _, c := range claims {
		why.PeerCount += c.peers
		why.Observations = strategy.AddObservations(why.Observations, c.observations)
	}
	if why.PeerCount > 0 {
		why.Phrase = "expected improvement, given the designs of " + sanitize.Count(why.PeerCount, "peer")
	}
	return s.maximise(ctx, view, trial, seed, f, points(claims[:min(len(claims), aroundClaims)]), why)
}

// maximise suggests the maximiser of f. If that was tried before, it suggests the design of alone.LogEI.
func (s Strategy) maximise(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed, f acquisition.Function, around [][]float64, why strategy.Why) (strategy.Suggestion, error) {
	x, _, err := s.search.Maximizer.Maximize(ctx, f, append(around, s.search.Best(view)...), seed.Stream("maximise", trial))
	if err != nil {
		return strategy.Suggestion{}, err
	}
	design := s.task.Space.Decode(x)
	if s.search.Tried(view, design) {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	return strategy.Suggestion{Design: design, Why: why}, nil
}

// score returns the function to maximise and the claims that it is conditioned on. Both are nil if
// no claim is left. On tasks with constraints a claim states that its design is feasible. It also
// states that the design is better than all that the agent has found, but only once the agent knows
// a feasible design.
func (s Strategy) score(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (acquisition.Function, []claim, error) {
	view = s.search.WithPending(view)
	claims := claimsOf(s.task, view)
	if len(view.Constraints) == 0 {
		f, left, err := s.consider(ctx, view, claims, trial, seed)
		return f, left, err
	}
	claims = keepable(view, claims)
	f := acquisition.Sum()
	if len(claims) > 0 && strategy.Best(s.task, view.Trials) != nil {
		improvement, left, err := s.consider(ctx, view, claims, trial, seed)
		if err != nil {
			return nil, nil, err
		}
		f, claims = improvement, left
	}
	if len(claims) == 0 {
		return nil, nil, nil
	}
	view, err := given(view, points(claims), slices.Repeat([]bool{true}, len(claims)))
	if err != nil {
		return nil, nil, nil // a peer's share must not stop the agent
	}
	return acquisition.Sum(f, acquisition.LogFeasibility(search.Limits(view)...)), claims, nil
}

// consider returns the claims that do not contradict the own posterior of the objective, and the
// expected improvement given these claims.
func (s Strategy) consider(ctx context.Context, view strategy.View, claims []claim, trial uint64, seed strategy.Seed) (*averageImprovement, []claim, error) {
	posterior, ok := view.Posterior.(surrogate.JointPosterior)
	if !ok || len(claims) == 0 {
		return nil, nil, nil
	}
	designs, mean := s.search.BestFeasible(view), acquisition.Mean(posterior)
	x, threshold, err := s.search.Maximizer.Maximize(ctx, search.AmongFeasible(view, mean), designs, seed.Stream("threshold", trial))
	if err != nil {
		return nil, nil, err
	}
	highest := predict(claims, posterior)
	if len(view.Constraints) > 0 {
		threshold = mean.Value(x)
	} else {
		threshold = max(threshold, highest)
	}
	passed, err := s.compare(view, claims, threshold)
	if err != nil {
		return nil, nil, err
	}
	if passed = plausible(passed, threshold); len(passed) == 0 {
		return nil, nil, nil
	}
	joint := posterior.Joint(points(passed))
	kept, c, samples := fulfil(joint.Mean(), joint.Covariance(), threshold, seed.Stream("designs", trial))
	if len(kept) == 0 {
		return nil, nil, nil
	}
	left := make([]claim, len(kept))
	for i, from := range kept {
		left[i] = passed[from]
	}
	if len(left) < len(passed) {
		joint = posterior.Joint(points(left))
	}
	f := &averageImprovement{
		posterior: posterior,
		joint:     joint,
		condition: c,
		samples:   samples,
		best:      alone.BestMean(posterior, designs),
	}
	return f, left, nil
}

// compare returns the claims of peers that pass the comparison, and all claims of the user.
func (s Strategy) compare(view strategy.View, claims []claim, threshold float64) ([]claim, error) {
	units, err := unitsOf(s.task, view)
	if err != nil {
		return nil, err
	}
	var passed []claim
	for _, c := range claims {
		if c.share == nil || s.passes(view, *c.share, own(units, threshold)) {
			passed = append(passed, c)
		}
	}
	return passed, nil
}

func points(claims []claim) [][]float64 {
	x := make([][]float64, len(claims))
	for i, c := range claims {
		x[i] = c.x
	}
	return x
}
