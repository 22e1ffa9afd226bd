package agent

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// Learned states what the model of the objective has learned from.
type Learned struct {
	Surrogate string `json:"surrogate"` // its type, as in the task file
	Results   int    `json:"results"`   // that it has learned from
	Of        int    `json:"of"`        // that there were
	Diverged  int    `json:"diverged"`  // of these, which it leaves out
	Most      int    `json:"most"`      // results that it learns from at most; 0: all
}

// String states it as a clause, such as "exact, all 12 results".
func (l Learned) String() string {
	if l.Results == l.Of {
		return fmt.Sprintf("%s, all %s", l.Surrogate, sanitize.Count(l.Of, "result"))
	}
	text := fmt.Sprintf("%s, %d of %s", l.Surrogate, l.Results, sanitize.Count(l.Of, "result"))
	if l.Results+l.Diverged < l.Of {
		text += fmt.Sprintf(": the best, the newest and others across the space, at most %d", l.Most)
	}
	if l.Diverged > 0 {
		text += fmt.Sprintf(", without %d that diverged", l.Diverged)
	}
	return text
}

// Learned states what the model of the objective has learned from, nil before it has.
func (a *Agent) Learned() *Learned {
	if a.objective().posterior == nil {
		return nil
	}
	return a.learned
}

// learnedFrom states what the model of the objective learns from so many results.
func (a *Agent) learnedFrom(results int) *Learned {
	l := &Learned{Surrogate: a.cfg.Task.Surrogate.Type, Results: results, Of: a.trials.done}
	if !strategy.Unbounded(a.cfg.Task, a.objective().output) {
		l.Most = a.cfg.MaxObservations
	}
	for _, diverged := range strategy.Diverged(a.cfg.Task, a.trials.list) {
		if diverged {
			l.Diverged++
		}
	}
	return l
}
