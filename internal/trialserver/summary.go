package trialserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Summary is a task of a data directory in one line.
type Summary struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Running bool           `json:"running" doc:"Whether the node that runs works on it."`
	Trials  map[string]int `json:"trials" doc:"How many there are in each state."`
	Best    *float64       `json:"best,omitempty" doc:"The best value; absent where no trial is feasible."`
	Changed time.Time      `json:"changed,omitzero" doc:"When a trial started or ended last; absent where there is none."`
}

// Summarise returns the summary of a task that does not run.
func Summarise(t *task.Task, trials []strategy.Trial) Summary {
	s := Summary{ID: t.ID().String(), Name: t.Name, Trials: map[string]int{}, Changed: strategy.LastChange(trials)}
	for _, trial := range trials {
		s.Trials[string(trial.State)]++
	}
	if best := strategy.Best(t, trials); best != nil {
		s.Best = &best.Outcome.Value
	}
	return s
}

// Unreadable returns the summary of a task whose strategy is unknown to this program.
func Unreadable(id string, unknown *strategy.UnknownError) Summary {
	return Summary{ID: id, Name: fmt.Sprintf("strategy %q, unknown to this program", unknown.Type), Trials: map[string]int{}}
}

// SortSummaries puts the task that changed last first.
func SortSummaries(all []Summary) {
	slices.SortFunc(all, func(a, b Summary) int { return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(a.ID, b.ID)) })
}

// Known returns the summaries of all tasks in the node's data directory, served or not.
func (d *Server) Known(ctx context.Context) ([]Summary, error) {
	ids, err := d.node.Known()
	if err != nil {
		return nil, err
	}
	all := make([]Summary, 0, len(ids))
	for _, id := range ids {
		s, err := d.summary(ctx, id)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	SortSummaries(all)
	return all, nil
}

func (d *Server) summary(ctx context.Context, id string) (Summary, error) {
	d.mu.Lock()
	served := d.tasks[id]
	d.mu.Unlock()
	if served != nil {
		trials, err := served.session.Trials(ctx)
		s := Summarise(served.session.Task(), trials)
		s.Running = true
		return s, err
	}
	h, err := d.node.History(id)
	if unknown, is := errors.AsType[*strategy.UnknownError](err); is {
		return Unreadable(id, unknown), nil
	}
	if err != nil {
		return Summary{}, err
	}
	return Summarise(h.Task, h.Trials), nil
}
