package agent

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// Learned holds the numbers of observations of the objective's model.
type Learned struct {
	Surrogate       string `json:"surrogate"`        // its type, as in the task file
	Observations    int    `json:"observations"`     // used by the model
	Available       int    `json:"available"`        // of all outcomes
	Diverged        int    `json:"diverged"`         // of these, ignored as diverged
	MaxObservations int    `json:"max_observations"` // limit of Observations; 0: none
}

// String returns them as a clause, such as "exact, all 12 results".
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

// Learned returns the numbers of observations of the objective's model, nil before there is one.
func (a *Agent) Learned() *Learned {
	if a.objective().posterior == nil {
		return nil
	}
	return a.learned
}

// learnedFrom returns the Learned of a model of the objective with this number of results.
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
