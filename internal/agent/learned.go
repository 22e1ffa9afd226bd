package agent

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// Learned describes how many of the available observations the objective's model uses.
type Learned struct {
	Surrogate       string `json:"surrogate"`        // type of the surrogate, as in the task file
	Observations    int    `json:"observations"`     // number of observations that the model uses
	Available       int    `json:"available"`        // number of all outcomes
	Diverged        int    `json:"diverged"`         // number of outcomes that are ignored because they diverged
	MaxObservations int    `json:"max_observations"` // limit of Observations; 0: no limit
}

// String returns a phrase such as "exact, all 12 results".
func (l Learned) String() string {
	if l.Observations == l.Available {
		return fmt.Sprintf("%s, all %s", l.Surrogate, sanitize.Count(l.Available, "result"))
	}
	text := fmt.Sprintf("%s, %d of %s", l.Surrogate, l.Observations, sanitize.Count(l.Available, "result"))
	if l.Observations+l.Diverged < l.Available {
		text += fmt.Sprintf(": the best, the newest and others across the space, at most %d", l.MaxObservations)
	}
	if l.Diverged > 0 {
		text += fmt.Sprintf(", without %d that diverged", l.Diverged)
	}
	return text
}

// Learned returns the description of the objective's model, or nil before there is a model.
func (a *Agent) Learned() *Learned {
	if a.objective().posterior == nil {
		return nil
	}
	return a.learned
}

// learnedFrom returns the description of an objective's model with the given number of
// observations.
func (a *Agent) learnedFrom(results int) *Learned {
	l := &Learned{Surrogate: a.cfg.Task.Surrogate.Word(), Observations: results, Available: a.trials.done}
	if !strategy.Unbounded(a.cfg.Task, a.objective().output) {
		l.MaxObservations = a.cfg.MaxObservations
	}
	for _, diverged := range strategy.Diverged(a.cfg.Task, a.trials.list) {
		if diverged {
			l.Diverged++
		}
	}
	return l
}
