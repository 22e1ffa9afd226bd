package agent

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
)

// chosen is a design or a request to wait. If the strategy failed on the whole view, failed is the
// reason.
type chosen struct {
	strategy.Suggestion
	failed error
}

// choose calls the strategy. Only in this function do peers' shares affect designs.
//
// The strategy fails if it returns an error or panics, if its design is not in the space, if a
// number does not fit into a record, or if a wait is not allowed. Then it is called again without
// peers' shares. If it fails again, the engine of package alone chooses the design, or as a last
// resort random search. The error is that of ctx, or of random search, which fails if all designs
// have failed.
//
// choose runs concurrently with the agent, and reads only immutable data of it.
func (a *Agent) choose(ctx context.Context, view strategy.View, id uint64, seed random.Seed) (c chosen, err error) {
	c.Suggestion, c.failed = a.suggestion(ctx, a.strategy, view, id, seed)
	if c.failed == nil || ctx.Err() != nil {
		return c, ctx.Err()
	}
	view.Shares, view.Results, view.PriorDesigns = nil, nil, nil
	if view.Waited == "" {
		view.Waited = presence.Kind // without exchanges' results a wait would not end
	}
	for _, s := range a.fallbacks() {
		if c.Suggestion, err = a.suggestion(ctx, s, view, id, seed); err == nil {
			why := c.Why
			why.NextBest, why.RepeatOf = 0, 0 // why.String, which becomes the phrase, contains these two already
			c.Why.Phrase = strings.TrimPrefix(why.String()+", alone, since the strategy failed", ", ")
			return c, nil
		}
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
	}
	return c, err
}

// fallbacks returns the strategies that are tried, in this order, after the task's strategy has
// failed. On tasks with a limit on moves (MaxMoves), only the task's strategy can choose allowed
// designs.
func (a *Agent) fallbacks() []strategy.Strategy {
	if a.cfg.Task.MaxMoves > 0 {
		return []strategy.Strategy{a.strategy}
	}
	return []strategy.Strategy{a.strategy, alone.NewEngine(a.cfg.Task), atRandom{search.New(a.cfg.Task)}}
}

type atRandom struct{ search search.Search }

func (r atRandom) Suggest(_ context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	return r.search.Start(view, trial, seed)
}

// suggestion returns a strategy's suggestion, or an error if the suggestion is invalid or cannot be
// recorded.
func (a *Agent) suggestion(ctx context.Context, by strategy.Strategy, view strategy.View, id uint64, seed random.Seed) (strategy.Suggestion, error) {
	s, err := recoverpanic.Call("the strategy", func() (strategy.Suggestion, error) { return by.Suggest(ctx, view, id, seed) })
	switch {
	case err != nil:
		return s, err
	case s.Wait.Exchange != "":
		return s, a.mayWait(s.Wait, view.Waited)
	}
	if p := s.Why.OwnProbability; p != nil && !finite(*p) {
		return s, fmt.Errorf("the strategy says that its own model had the chance %g, expected finite numbers", *p)
	}
	return s, a.cfg.Task.Space.Check(s.Design)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
