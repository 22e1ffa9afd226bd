package agent

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// View returns the current view of the agent.
func (a *Agent) View(now time.Time) strategy.View { return a.view(now) }

// Modelled returns the number of outcomes in the posterior of the objective, and whether the
// posteriors include all outcomes.
func (a *Agent) Modelled() (observations int, all bool) { return a.objective().at, a.caughtUp() }

// Recommend returns the recommended design in a view of this agent (search.Recommend). With noisy
// outcomes it is a better estimate of the best design than the best observed design. Without a
// posterior in the view, and with several objectives, it returns the zero design. It takes as long as a suggestion and may run
// concurrently with the agent. The result depends only on the view and the agent's seed. The error
// is that of ctx, or a panic of the strategy.
func (a *Agent) Recommend(ctx context.Context, view strategy.View) (task.Design, error) {
	if a.cfg.Task.Several() {
		return task.Design{}, ctx.Err()
	}
	if common, ok, err := a.common(ctx, view); ok {
		return common.Design, err
	}
	seed := a.cfg.Seed.Derive("recommend", uint64(view.Observations))
	return recoverpanic.Call("the strategy", func() (task.Design, error) {
		if own, ok := a.strategy.(strategy.Recommender); ok {
			return own.Recommend(ctx, view, seed), ctx.Err()
		}
		return search.New(a.cfg.Task).Recommend(ctx, view, seed), ctx.Err()
	})
}

// common returns the design that the strategy recommends to all agents. ok is false for strategies that
// recommend a design to each.
func (a *Agent) common(ctx context.Context, view strategy.View) (common strategy.Common, ok bool, err error) {
	s, ok := a.strategy.(strategy.CommonRecommender)
	if !ok {
		return common, false, nil
	}
	common, err = recoverpanic.Call("the strategy", func() (strategy.Common, error) { return s.RecommendCommon(ctx, view) })
	return common, true, err
}

// Recommendation is a recommended design with the model's prediction.
type Recommendation struct {
	Design    task.Design `json:"parameters"`
	Predicted *float64    `json:"predicted"`        // objective that this node's own model predicts for the design, or if Agents is set the average of theirs; nil if the model's values have no units
	Agents    int         `json:"agents,omitempty"` // number of agents whose results the recommendation uses, if it is one design for all (strategy.CommonRecommender)
	Noisy     bool        `json:"noisy"`            // outcomes are so noisy that the best one is mostly luck (search.Noisy)
	Reason    string      `json:"reason,omitempty"` // why the design is preferable to the best observed one; empty unless Noisy or Agents is set
}

// noisyReason is the Reason of all recommendations that are Noisy.
const noisyReason = "the noise of outcomes is larger than the differences between designs, so the best observed value is mostly luck"

// Recommendation is Recommend with the model's prediction for the design. Without a posterior in
// the view it is the zero value.
func (a *Agent) Recommendation(ctx context.Context, view strategy.View) (Recommendation, error) {
	if common, ok, err := a.common(ctx, view); ok {
		if err != nil || common.Design.IsZero() {
			return Recommendation{}, err
		}
		return Recommendation{Design: common.Design, Predicted: &common.Predicted, Agents: common.Agents, Noisy: search.Noisy(view), Reason: commonReason(common)}, nil
	}
	design, err := a.Recommend(ctx, view)
	if err != nil || design.IsZero() {
		return Recommendation{}, err
	}
	r := Recommendation{Design: design}
	if value, ok := search.Predicted(view, design); ok {
		r.Predicted = &value
	}
	if r.Noisy = search.Noisy(view); r.Noisy {
		r.Reason = noisyReason
	}
	return r, nil
}

// commonReason is the Reason of a design for all agents.
func commonReason(common strategy.Common) string {
	return "one design for all: predicted is the average objective of " + sanitize.Count(common.Agents, "agent") + ", and the design maximises a lower bound of it"
}

// Preferred returns the recommendation if it is preferable to the best observed design: it is one
// design for all agents, or outcomes are noisy (search.Noisy). Otherwise, and while no trial is
// feasible, it quickly returns nil.
func (a *Agent) Preferred(ctx context.Context, view strategy.View) (*Recommendation, error) {
	if a.cfg.Task.Several() || strategy.Best(a.cfg.Task, view.Trials) == nil {
		return nil, nil
	}
	if _, common := a.strategy.(strategy.CommonRecommender); !common && !search.Noisy(view) {
		return nil, nil
	}
	r, err := a.Recommendation(ctx, view)
	if err != nil || r.Design.IsZero() {
		return nil, err
	}
	return &r, nil
}

// ErrNeedsPeers means that the recommended design is one for all agents, and depends on shares of peers
// that a journal does not contain.
var ErrNeedsPeers = errors.New("the design for all agents depends on peers' shares, which only a running node has; expected a running node: fbo-node keep starts one without evaluations")

// Preferred is Agent.Preferred for an agent with the trials of the history and without peers. Its
// models have the hyperparameters in the journal. Error: ErrNeedsPeers.
func (h History) Preferred(ctx context.Context) (*Recommendation, error) {
	if h.Best == nil || h.Task.Space.Listing().Absent() { // designs of an absent listing cannot be encoded
		return nil, nil
	}
	a := &Agent{cfg: Config{Task: h.Task, Strategies: h.strategies, MaxObservations: strategy.DefaultMaxObservations, Exchanges: []strategy.Exchange{}}, trials: h.table}
	if err := a.cfg.complete(); err != nil {
		return nil, err
	}
	if _, common := a.cfg.Strategy.(strategy.CommonRecommender); common {
		return nil, ErrNeedsPeers
	}
	var err error
	if a.models, err = newModels(h.Task, a.cfg.Model, a.cfg.Strategy); err != nil {
		return nil, err
	}
	for _, m := range a.models {
		m.fitted = h.fits[m.output]
		learn := a.lesson(m, a.observed(m), a.trials.measured(m.output))
		if learn == nil {
			continue
		}
		learned, err := recoverpanic.Call("the surrogate"+ofOutput(m.output), func() (any, error) { return learn(ctx) })
		if err != nil {
			return nil, err
		}
		a.takeModel(m, learned.(modelled))
	}
	return a.Preferred(ctx, a.view(time.Time{}))
}

// RegretBound returns an upper bound on the simple regret of the best design so far, in the
// objective's units, by the agent's own model in the view (alone.RegretBound). It is +Inf if there
// is no bound or the numbers overflow. It takes as long as several suggestions. Otherwise the notes
// on Recommend apply.
func (a *Agent) RegretBound(ctx context.Context, view strategy.View) (float64, error) {
	seed := a.cfg.Seed.Derive("regret", uint64(view.Observations))
	bound, err := recoverpanic.Call("the bound of the regret", func() (float64, error) { return alone.RegretBound(ctx, view, seed) })
	if err == nil && !finite(bound) {
		bound = math.Inf(1)
	}
	return bound, err
}

// RecordStop records the end of a run by its stopping rule: the regret bound, computed from all
// outcomes so far, is at most the requested regret.
func (a *Agent) RecordStop(now time.Time, bound, regret float64) {
	a.record(Record{Stop: &StopRecord{Observations: a.trials.done, Bound: bound, Regret: regret, Time: now}})
}

// StopReason returns the reason for which the stopping rule ended the latest run. It is nil if the
// run ended otherwise, or if a trial has begun since.
func (a *Agent) StopReason() *Stopped { return a.trials.stop.stopped() }

// Conditions of the stopping rule, in addition to a regret bound that is small enough.
const (
	// StopAfter is the number of consecutive outcomes after which the regret bound must have been
	// small enough. One is not sufficient, because the hyperparameters, and with them the bound,
	// change with each outcome.
	StopAfter = 5

	// StopPerParameter is the number of outcomes for each parameter that a model needs before its
	// bound counts. By the rule of Loeppky, Sacks and Welch, "Choosing the Sample Size of a
	// Computer Experiment" (Technometrics, 2009), that is enough to learn a function. With fewer,
	// models are often over-confident about a local optimum.
	StopPerParameter = 10
)

// Stopped is the reason for which the stopping rule ended a run: the regret bound of its best
// design was small enough.
type Stopped struct {
	Observations int       `json:"observations"` // number of observations of the model that gave the bound
	RegretBound  float64   `json:"regret_bound"` // in the objective's units
	StopRegret   float64   `json:"stop_regret"`  // the requested regret, RunOptions.StopRegret
	Time         time.Time `json:"time"`
}

func (r *StopRecord) stopped() *Stopped {
	if r == nil {
		return nil
	}
	return &Stopped{Observations: r.Observations, RegretBound: r.Bound, StopRegret: r.Regret, Time: r.Time}
}
