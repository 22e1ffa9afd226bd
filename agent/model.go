package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/surrogate"
)

// model keeps the posterior in step with the observations.
type model struct {
	kind      surrogate.Model
	fitted    *FitRecord          // the latest decision about hyperparameters
	posterior surrogate.Posterior // nil until there is an observation
	at        int                 // observations behind the posterior
	working   bool
}

// refitDue is the refit schedule: every observation up to 20, then whenever
// their number has grown by a tenth, so that the cost of refits stays in
// proportion to what they can still change.
func (m *model) refitDue(observations int) bool {
	return m.fitted == nil || observations-m.fitted.Observations >= max(1, (observations-1)/20*2)
}

// caughtUp tells whether the posterior knows every observation.
func (a *Agent) caughtUp() bool { return !a.model.working && a.model.at == a.trials.done }

type modelled struct {
	fitted    *FitRecord // nil when the hyperparameters stay
	posterior surrogate.Posterior
}

// catchUp starts the work of bringing the posterior up to date, with new
// hyperparameters when they are due.
func (a *Agent) catchUp() {
	if a.model.working || a.caughtUp() {
		return
	}
	a.model.working = true
	observations, kind, known := strategy.Observed(a.cfg.Task, a.trials.list), a.model.kind, a.model.posterior
	count := len(observations.Y)
	previous, refit := a.model.fitted, a.model.refitDue(count)
	rng := a.cfg.Seed.Stream("fit", uint64(count))
	a.startWork(job{name: fmt.Sprintf("what %d observations teach", count), who: "the surrogate", run: func(ctx context.Context) (any, error) {
		var m modelled
		current := previous
		if refit {
			var before *surrogate.Hyperparameters
			if previous != nil {
				before = &previous.Hyperparameters
			}
			h, err := kind.Fit(ctx, observations, before, rng)
			if err != nil {
				return m, err
			}
			m.fitted = &FitRecord{Observations: count, Hyperparameters: h}
			current = m.fitted
		}
		var err error
		m.posterior, err = kind.Condition(observations, current.Hyperparameters, known)
		return m, err
	}, undo: func() { a.model.working = false }, finish: func(_ time.Time, result any, err error) {
		a.model.working, a.model.at = false, count
		if err != nil {
			a.warnOf(err, "the surrogate could not learn from %d observations (%v); the next design follows what it knew before", count, err)
			return
		}
		a.takeModel(result.(modelled))
	}})
}

func (a *Agent) takeModel(m modelled) {
	if m.fitted != nil {
		a.model.fitted = m.fitted
		a.record(Record{Fit: m.fitted})
	}
	a.model.posterior = m.posterior
}
