package alone

import (
	"context"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// confidence is κ, how many standard deviations the bound lies above the mean.
// Srinivas et al. let κ² = β_t grow with the logarithm of the trial number, by
// constants that depend on the kernel and are far too cautious in practice; here
// it is fixed, so that the bound means the same throughout, unless the task says how it
// grows ([UCBSettings]).
const confidence = 2

const (
	minC2 = 1e-6
	maxC  = 1e6
)

// UCBSettings are the keys of a task file for strategy ucb. A task without them has nil
// settings, and two standard deviations.
//
// With them the bound is mean + √β_t·sd, β_t = C1·d·ln(C2·t) where that is above 0 and 0
// elsewhere. Here d is the number of parameters and t that of the trial, starting designs
// included. The form is that of Kandasamy, Schneider and Póczos, "High Dimensional Bayesian
// Optimisation and Bandits via Additive Models" (ICML 2015). Sim et al., "Collaborative
// Bayesian Optimization with Fair Regret" (ICML 2021), section 5, have it in their α_t, of
// which β_t is that of a single party: so a party alone, with which appendix C.5 compares,
// explores by the constants of the collaboration.
type UCBSettings struct {
	C1 float64 // 0 to 1e6; 0 leaves the mean alone
	C2 float64 // 1e-6 to 1e6; 0 in the zero value, which is no task's
}

func readUCBSettings(s *task.Section) task.StrategySettings {
	unset := math.Inf(-1) // no number of a file
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

// UCB is the upper confidence bound alone: it evaluates where mean + 2·sd of the
// own posterior is largest, or mean + √β_t·sd on a task with [UCBSettings].
type UCB struct {
	search     search.Search
	settings   UCBSettings
	parameters int
}

var _ strategy.Strategy = UCB{}

// NewUCB returns the strategy for a task. On a task of another strategy, which uses it for
// its own candidates, the bound has two deviations.
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

// beta returns the square of the number of standard deviations by which the bound of a trial,
// numbered from 1, lies above the mean.
func (s UCB) beta(trial uint64) float64 {
	if s.settings == (UCBSettings{}) {
		return confidence * confidence
	}
	return max(0, s.settings.C1*float64(s.parameters)*math.Log(s.settings.C2*float64(trial)))
}
