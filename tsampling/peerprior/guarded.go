package peerprior

import (
	"context"
	"slices"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/internal/plain"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/optimum"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// What peers that say no more than where they believe the optimum to be count for.
const (
	spread     = 0.2 // deviation of the own optimum from theirs, in the unit cube
	trust      = 0.9 // that it is near one of theirs at all
	exponent   = 5.0 // of what they say, divided by the own observations, as in strategy density
	mostPlaces = 64  // that one suggestion counts, which bounds its cost
)

// guarded is the strategy of an agent on a task with guarded shares: what a node does best
// alone, drawn to where peers believe the optimum to be. It is immutable.
type guarded struct {
	alone  alone.Engine
	search search.Search
	task   *task.Task
	layout *optimum.Layout
}

var (
	_ strategy.Strategy = guarded{}
	_ strategy.Follower = guarded{}
)

func newGuarded(t *task.Task) guarded {
	return guarded{alone: alone.NewEngine(t), search: search.New(t), task: t, layout: optimum.NewLayout(t.Space)}
}

// Suggest implements strategy.Strategy. While there is nobody to listen to it suggests
// exactly what the agent would alone.
func (s guarded) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	var said []protocol.Density
	for _, d := range strategy.Shares[protocol.Density](view) {
		said = append(said, d)
	}
	said = search.AtMost(mostPlaces, said, seed.Stream("which peers", trial))
	if len(said) == 0 || s.search.Starting(view, trial) && !s.canSkipStart(said) {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	where := s.where(said, exponent/float64(max(view.Observations, 1)))
	if view.Posterior == nil {
		return s.search.Maximise(ctx, view, trial, seed, where, because(said, "believed"))
	}
	suggestion, err := s.alone.Choose(ctx, view, trial, seed, where)
	if why := suggestion.Why; why.Source != strategy.Remaining {
		because := because(said, why.Phrase)
		because.NextBest, because.Again = why.NextBest, why.Again
		suggestion.Why = because
	}
	return suggestion, err
}

// because is why a design was chosen, in these words, toward the optima of peers.
func because(said []protocol.Density, words string) strategy.Why {
	why := strategy.Why{Source: Source, Phrase: words + ", toward the optima of " + plain.Count(len(said), "peer"), Listened: len(said)}
	for _, d := range said {
		why.Observations = strategy.AddObservations(why.Observations, d.Observations)
	}
	return why
}

func (s guarded) where(said []protocol.Density, weight float64) acquisition.Function {
	var densities []*optimum.Mixture
	for _, d := range said {
		densities = append(densities, optimum.NewMixture(s.layout, s.task.Space, d))
	}
	return optimum.Where(densities, trust, weight)
}

// canSkipStart tells whether somebody knows more than the random designs at the start
// would tell.
func (s guarded) canSkipStart(said []protocol.Density) bool {
	return slices.ContainsFunc(said, func(d protocol.Density) bool { return d.Observations > s.task.Strategy.InitialDesigns })
}

// FollowsFromTheFirst implements strategy.Follower.
func (guarded) FollowsFromTheFirst() bool { return true }
