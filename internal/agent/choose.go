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

// chosen is a design or a wish to wait. failed is why it is not what the strategy makes of
// all that it sees; nil where it is.
type chosen struct {
	strategy.Suggestion
	failed error
}

// choose has the strategy choose. What peers say reaches designs here alone, and this is
// the one rule about what goes wrong: an error or a panic of the strategy, a design that is
// none of the space, a number that no record can hold or a wait that is not allowed costs
// what the strategy would have heard, for this trial. The design is what the strategy
// chooses with nobody there, and where it fails again one of package alone's engine or, in
// the end, a random one. The error is that of ctx, or of the last of these, which fails when
// all designs have.
//
// It runs beside the agent, and reads nothing of it that changes.
func (a *Agent) choose(ctx context.Context, view strategy.View, id uint64, seed random.Seed) (c chosen, err error) {
	c.Suggestion, c.failed = a.suggestion(ctx, a.strategy, view, id, seed)
	if c.failed == nil || ctx.Err() != nil {
		return c, ctx.Err()
	}
	view.Shares, view.Results, view.PriorDesigns = nil, nil, nil
	if view.Waited == "" {
		view.Waited = presence.Kind // whatever it wants to wait for will not come
	}
	for _, s := range a.fallbacks() {
		if c.Suggestion, err = a.suggestion(ctx, s, view, id, seed); err == nil {
			why := c.Why
			why.NextBest, why.RepeatOf = 0, 0 // which Why says itself
			c.Why.Phrase = strings.TrimPrefix(why.String()+", alone, since the strategy failed", ", ")
			return c, nil
		}
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
	}
	return c, err
}

// fallbacks are what chooses when the task's strategy has failed, in this order. Where
// designs are reached in steps only that strategy knows them.
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

// suggestion is what a strategy suggests, if that can be carried out and recorded.
func (a *Agent) suggestion(ctx context.Context, by strategy.Strategy, view strategy.View, id uint64, seed random.Seed) (strategy.Suggestion, error) {
	s, err := recoverpanic.Call("the strategy", func() (strategy.Suggestion, error) { return by.Suggest(ctx, view, id, seed) })
	switch {
	case err != nil:
		return s, err
	case s.Wait.Exchange != "":
		return s, a.mayWait(s.Wait, view.Waited)
	}
	if p := s.Why.OwnProbability; p != nil && !finite(*p) {
		return s, fmt.Errorf("the strategy says that its own model had the chance %g, accepted are finite numbers", *p)
	}
	return s, a.cfg.Task.Space.Check(s.Design)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
