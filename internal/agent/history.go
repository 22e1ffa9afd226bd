package agent

import (
	"errors"
	"fmt"
	"time"

	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// History is the content of a journal for one task, without an agent.
type History struct {
	Task    *task.Task
	Epoch   uint64 // latest epoch: the number of starts, or more if epochs were skipped
	Trials  []strategy.Trial
	Best    *strategy.Trial // nil if no trial is feasible
	Stopped *Stopped        // why the latest run stopped itself; nil if it ended for another reason, or there are trials since
	Spent   *ledger.State   // of the task's privacy budget; nil if there is none
	Queue   []Queued        // designs that Enqueue added and that have no trial

	strategies strategy.Set
	table      trials
	fits       map[task.Output]*FitRecord // latest fit of each output
}

// ReadHistory reconstructs the history from an agent's records, in their order. If the set does not
// contain the task's strategy, the error wraps a *strategy.UnknownError.
func ReadHistory(records []Record, strategies strategy.Set) (History, error) {
	h := History{strategies: strategies, fits: map[task.Output]*FitRecord{}}
	var err error
	if h.Task, err = taskOf(records, strategies); err != nil {
		return History{}, err
	}
	registration, err := strategies.Of(h.Task)
	if err != nil {
		return History{}, err
	}
	disclosure, err := recoverpanic.Call("strategy "+registration.Name, func() (strategy.Disclosure, error) { return registration.Disclosure(h.Task), nil })
	if err != nil {
		return History{}, err
	}
	table := newTrials(h.Task)
	var releases [][]byte
	for i, r := range records {
		if r.Epoch != nil {
			h.Epoch = r.Epoch.Epoch
		}
		if r.Fit != nil {
			h.fits[r.Fit.Output] = r.Fit
		}
		releases = append(releases, debits(disclosure, r.Note)...)
		if err := table.apply(r); err != nil {
			return History{}, fmt.Errorf("journal record %d: %w", i+1, err)
		}
	}
	h.table, h.Trials, h.Best, h.Stopped, h.Queue = table, table.list, table.bestTrial(), table.stop.stopped(), table.queue
	if h.Task.Privacy != nil {
		h.Spent = new(ledger.ReadState(h.Task, releases))
	}
	return h, nil
}

// Annotate changes the annotations of a trial, and returns the records for the journal. Errors are
// those of Agent.Annotate.
func (h *History) Annotate(now time.Time, id uint64, change strategy.AnnotationChange) (records []Record, err error) {
	var failed error
	_, err = h.table.annotated(now, id, change, func(r Record) {
		records, failed = append(records, r), h.table.apply(r)
	})
	h.Trials = h.table.list
	return records, errors.Join(err, failed)
}

// Trial returns a trial by its ID; the zero trial if there is none.
func (h *History) Trial(id uint64) strategy.Trial {
	if trial, err := h.table.get(id); err == nil {
		return *trial
	}
	return strategy.Trial{}
}

// taskOf returns the task of the records, from the last TaskRecord.
func taskOf(records []Record, strategies strategy.Set) (t *task.Task, err error) {
	for _, r := range records {
		if r.Task == nil {
			continue
		}
		if t, err = r.Task.parse(strategies); err != nil {
			return nil, err
		}
	}
	if t == nil {
		return nil, errors.New("the journal does not say which task it is about")
	}
	return t, nil
}

func (r *TaskRecord) parse(strategies strategy.Set) (*task.Task, error) {
	t, err := strategies.ParseCanonical("journal", r.File)
	if _, unknown := errors.AsType[*strategy.UnknownError](err); unknown {
		return nil, fmt.Errorf("task in journal: %w; the program that wrote it can read it", err)
	}
	if err != nil {
		return nil, fmt.Errorf("task in journal: %w", err)
	}
	return t, nil
}

// debits returns the encoded DP releases in a note of an exchange, which have spent privacy budget.
func debits(d strategy.Disclosure, n *NoteRecord) [][]byte {
	if n == nil || d.Debit == nil {
		return nil
	}
	debit, err := recoverpanic.Call("the strategy", func() ([]byte, error) { return d.Debit(n.Exchange, n.Data), nil })
	if err != nil {
		debit = []byte{} // the note is unreadable, so it counts as a possible DP release
	}
	if debit == nil {
		return nil
	}
	return [][]byte{debit}
}

// sameTask returns an error if the journal belongs to another task.
func (a *Agent) sameTask(r *TaskRecord) error {
	t, err := r.parse(a.cfg.Strategies)
	if err != nil {
		return err
	}
	if t.ID() != a.id {
		return fmt.Errorf("the journal is about task %v, not %v", t.ID(), a.id)
	}
	return nil
}
