package alone

import (
	"context"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// confidence is κ, the number of standard deviations between the mean and the bound. Srinivas et
// al. let κ² = β_t grow with the logarithm of the trial number t. Their constants depend on the
// kernel and are far too cautious in practice. Here κ is constant, so that the bound has one
// meaning in all trials, unless the task sets a growing β_t ([UCBSettings]).
const confidence = 2

const (
	minC2 = 1e-6
	maxC  = 1e6
)

// UCBSettings are the keys of a task file for strategy ucb. Without these keys the task's settings
// are nil, and the bound has two standard deviations.
//
// With the keys, the bound in trial t is mean + √β_t·sd with β_t = max(0, C1·d·ln(C2·t)). Here sd
// is the posterior standard deviation and d the number of parameters. Trials count from 1, starting
// designs included. The form is that of Kandasamy, Schneider and Póczos, "High Dimensional Bayesian
// Optimisation and Bandits via Additive Models" (ICML 2015).
//
// Sim et al., "Collaborative Bayesian Optimization with Fair Regret" (ICML 2021), section 5, use
// the same form in their α_t, and β_t is their α_t for a single party. So a single party, the
// baseline of their appendix C.5, explores with the constants of the collaboration.
type UCBSettings struct {
	C1 float64 // 0 to 1e6; with 0 the bound is the mean
	C2 float64 // 1e-6 to 1e6; 0 only in the zero value, which no task has
}

func readUCBSettings(s *task.Section) task.StrategySettings {
	unset := math.Inf(-1) // not a number that a file can contain
	c := UCBSettings{C1: s.Within("c1", unset, 0, maxC), C2: s.Within("c2", unset, minC2, maxC)}
	switch {
	case c.C1 == unset && c.C2 == unset:
		return nil
	case c.C1 == unset:
		s.Refuse("c2", "c1")
	case c.C2 == unset:
		s.Refuse("c1", "c2")
	}
	return c
}

// Keys implements task.StrategySettings.
func (c UCBSettings) Keys() map[string]any { return map[string]any{"c1": c.C1, "c2": c.C2} }

// UCB maximises the upper confidence bound of the agent's own posterior: mean + 2·sd, or mean +
// √β_t·sd on a task with [UCBSettings].
type UCB struct {
	search     search.Search
	settings   UCBSettings
	parameters int
}

var _ strategy.Strategy = UCB{}

// NewUCB returns the strategy for a task. Other strategies use UCB for their own candidates. On
// their tasks the bound has two standard deviations.
func NewUCB(t *task.Task) UCB {
	settings, _ := t.Strategy.Settings.(UCBSettings)
	return UCB{search.New(t), settings, t.Space.Len()}
}

// Suggest implements strategy.Strategy.
func (s UCB) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		return s.search.Start(view, trial, seed)
	}
	f := acquisition.UCB(s.search.WithPending(view).Posterior, s.beta(trial))
	return s.search.Maximise(ctx, view, trial, seed, f, strategy.Why{Source: "ucb", Phrase: "upper confidence bound"})
}

// beta returns β_t, the square of the number of standard deviations between the mean and the bound
// in this trial, counted from 1.
func (s UCB) beta(trial uint64) float64 {
	if s.settings == (UCBSettings{}) {
		return confidence * confidence
	}
	return max(0, s.settings.C1*float64(s.parameters)*math.Log(s.settings.C2*float64(trial)))
}
