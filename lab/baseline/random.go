package baseline

import (
	"context"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// uniform is random search.
type uniform struct{ search search.Search }

// NewRandom returns the strategy that draws every design after the starting designs uniformly from
// the designs not tried yet. Its starting designs equal those of every other strategy with the same
// seed.
func NewRandom(t *task.Task) strategy.Strategy { return uniform{search.New(t)} }

// Suggest implements strategy.Strategy.
func (s uniform) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	return s.search.Start(view, trial, seed)
}
