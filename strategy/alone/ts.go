package alone

import (
	"context"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// TS is Thompson sampling without peers. After the starting designs, each design maximises a sample
// of the agent's own posterior. With constraints, the maximum is restricted to designs that are
// feasible in one sample of each constraint's posterior.
type TS struct {
	search search.Search
}

var _ strategy.Strategy = TS{}

// NewTS returns the strategy for a task.
func NewTS(t *task.Task) TS { return TS{search.New(t)} }

// Suggest implements strategy.Strategy.
func (s TS) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) || search.Uninformed(view) {
		return s.search.Start(view, trial, seed)
	}
	return s.OwnSample(ctx, view, trial, seed, nil)
}

// OwnSample suggests the maximiser of a sample of the agent's own posterior. The view must have
// one. probability is the probability with which the caller chose the own posterior over peers'
// shares; nil means that it made no such choice. It is recorded in the Why.
func (s TS) OwnSample(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed, probability *float64) (strategy.Suggestion, error) {
	sample := search.Draw(view, seed, "own sample", trial)
	return s.search.Maximise(ctx, view, trial, seed, sample, strategy.Why{Source: strategy.Own, OwnProbability: probability})
}
