package averageobjective

import (
	"cmp"
	"context"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/exchange/posteriormean"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// source is the Source of designs that maximise the bound of the average objective.
const source strategy.Source = "average"

// confidence is the number of standard deviations between the mean and the bound, as in [alone.UCB].
const confidence = 2

// Strategy chooses designs on a task of type average-objective. It is immutable.
type Strategy struct {
	task     *task.Task
	alone    alone.UCB
	search   search.Search
	features *rff.Map
}

var (
	_ strategy.Strategy          = (*Strategy)(nil)
	_ strategy.CommonRecommender = (*Strategy)(nil)
)

// New returns the strategy of a task. features must be the shared features of the task.
func New(t *task.Task, features *rff.Map) *Strategy {
	return &Strategy{task: t, alone: alone.NewUCB(t), search: search.New(t), features: features}
}

// author is a mean with its author.
type author struct {
	id peer.ID
	protocol.Mean
}

// means returns the means that peers share.
func means(view strategy.View) (all []author) {
	for share, mean := range strategy.Shares[protocol.Mean](view) {
		all = append(all, author{share.Author, mean})
	}
	return all
}

// averageOf returns the average of the authors' objectives, in order of ID: every node that has the
// same shares computes the same digits.
func (s *Strategy) averageOf(all []author) *average {
	slices.SortFunc(all, func(a, b author) int { return cmp.Compare(a.id, b.id) })
	var means []protocol.Mean
	for _, a := range all {
		means = append(means, a.Mean)
	}
	return newAverage(s.features, means)
}

// Suggest implements strategy.Strategy. It suggests the maximiser of an upper confidence bound of the
// average objective,
//
//	Σ_j p_j m_j(x) + 2·√K·p_k·sd_k(x)
//
// with the mean m_k and the standard deviation sd_k of the agent's own posterior, and the means m_j
// that its K - 1 peers share. Without peers' shares it suggests exactly the design of [alone.UCB], and
// so during the starting designs.
func (s *Strategy) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	peers := means(view)
	own, scaled := view.Posterior.(surrogate.Scaled)
	if len(peers) == 0 || !scaled || s.search.Starting(view, trial) {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	why := strategy.Why{
		Source:    source,
		Phrase:    "upper confidence bound of the average of " + sanitize.Count(len(peers)+1, "agent"),
		PeerCount: len(peers),
	}
	for _, p := range peers {
		why.Observations = strategy.AddObservations(why.Observations, p.Observations)
	}
	e := newExploration(s.search.WithPending(view).Posterior, own.Units().Scale, s.averageOf(peers), len(peers))
	return s.search.Maximise(ctx, view, trial, seed, acquisition.UCB(e, confidence*confidence), why)
}

// RecommendCommon implements strategy.CommonRecommender. The design maximises the mean of the average
// objective minus one standard deviation, over the agents whose shares the view has, and this agent.
func (s *Strategy) RecommendCommon(ctx context.Context, view strategy.View) (strategy.Common, error) {
	all := means(view)
	if own, ok := posteriormean.Own(view); ok { // as peers have it, even if the posterior is newer
		all = append(all, author{view.Self, own})
	}
	if len(all) == 0 {
		return strategy.Common{}, nil
	}
	a := s.averageOf(all)
	// The seed is a constant and no own design is a starting point, so that all agents find the same.
	x, _, err := s.search.Maximizer.Maximize(ctx, acquisition.LCB(a, 1), nil, strategy.SeedOf(0).Stream("recommend", 0))
	if err != nil {
		return strategy.Common{}, err
	}
	mean, _ := a.Predict(x)
	return strategy.Common{Design: s.task.Space.Decode(x), Predicted: s.task.Goal.Sign() * a.output(mean), Agents: len(all)}, nil
}
