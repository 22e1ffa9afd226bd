package alone

import (
	"context"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// confidence is κ, how many standard deviations the bound lies above the mean.
// Srinivas et al. let κ² = β_t grow with the logarithm of the trial number, by
// constants that depend on the kernel and are far too cautious in practice; here
// it is fixed, so that the bound means the same throughout.
const confidence = 2

// UCB is the upper confidence bound alone: it evaluates where mean + 2·sd of the
// own posterior is largest.
type UCB struct {
	search search.Search
}

var _ strategy.Strategy = UCB{}

// NewUCB returns the strategy for a task.
func NewUCB(t *task.Task) UCB { return UCB{search.New(t)} }

// Suggest implements strategy.Strategy.
func (s UCB) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		return s.search.Start(view, trial, seed)
	}
	f := acquisition.UCB(view.Posterior, confidence*confidence)
	return s.search.Maximise(ctx, view, trial, seed, f, strategy.Why{Source: "bound", Phrase: "upper confidence bound"})
}
