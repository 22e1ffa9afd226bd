package agent

import (
	"context"
	"math"
	"time"

	"github.com/fbo-node/fbo/internal/guarded"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// View returns what the agent knows now.
func (a *Agent) View(now time.Time) strategy.View { return a.view(now) }

// Modelled returns how many outcomes the posterior of the objective rests on, and
// whether the posteriors know all there are.
func (a *Agent) Modelled() (observations int, all bool) { return a.objective().at, a.caughtUp() }

// Recommend returns the best supported design in a view of this agent (search.Supported),
// which is a better guess at the best design than the best outcome where
// outcomes are noisy; the zero design while the view has no posterior. It takes
// as long as a suggestion, may run beside the agent, and is a function of the
// view and the agent's seed alone. Its error is that of ctx or a panic of the strategy.
func (a *Agent) Recommend(ctx context.Context, view strategy.View) (task.Design, error) {
	seed := a.cfg.Seed.Derive("recommend", uint64(view.Observations))
	return guarded.Call("the strategy", func() (task.Design, error) {
		if own, ok := a.strategy.(strategy.Recommender); ok {
			return own.Recommend(ctx, view, seed), ctx.Err()
		}
		return search.New(a.cfg.Task).Recommend(ctx, view, seed), ctx.Err()
	})
}

// RegretBound returns an upper bound of what the best design so far lacks of the best of
// the space, in the objective's units, as far as the agent's own model in a view knows
// (alone.RegretBound); +Inf while it knows nothing, or its numbers are beyond all bounds. It takes as long as some suggestions,
// and is as Recommend is in all else.
func (a *Agent) RegretBound(ctx context.Context, view strategy.View) (float64, error) {
	seed := a.cfg.Seed.Derive("regret", uint64(view.Observations))
	bound, err := guarded.Call("the bound of the regret", func() (float64, error) { return alone.RegretBound(ctx, view, seed) })
	if err == nil && !finite(bound) {
		bound = math.Inf(1)
	}
	return bound, err
}

// SayEnough records that a run ends because the bound of the regret, which rests on all
// outcomes so far, is below what was small enough.
func (a *Agent) SayEnough(now time.Time, bound, regret float64) {
	a.record(Record{Enough: &EnoughRecord{Observations: a.trials.done, Bound: bound, Regret: regret, Time: now}})
}

// Enough returns why the latest run ended; nil when it did otherwise, or there are trials
// since.
func (a *Agent) Enough() *EnoughRecord { return a.trials.enough }
