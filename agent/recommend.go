package agent

import (
	"context"
	"time"

	"github.com/fbo-node/fbo/internal/guarded"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// View returns what the agent knows now.
func (a *Agent) View(now time.Time) strategy.View { return a.view(now) }

// Modelled returns how many outcomes the posterior of the objective rests on, and
// whether the posteriors know all there are.
func (a *Agent) Modelled() (observations int, all bool) { return a.objective().at, a.caughtUp() }

// Recommend returns the design of largest posterior mean in a view of this
// agent, which is a better guess at the best design than the best outcome where
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
