package store

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/strategy"
)

// Archive is the journal of a node that has ended, opened for reading. It is verified once, when it
// is opened.
type Archive struct{ journal *journal.Journal }

// OpenArchive opens the journal in a directory for reading. No node may run in the directory: if
// one still does after a second, the error wraps journal.ErrBusy. It wraps fs.ErrNotExist if there
// is no journal, and journal.ErrDamaged if the journal is unreadable.
func OpenArchive(dir string) (*Archive, error) {
	if err := datadir.Check(dir); err != nil {
		return nil, err
	}
	opened, err := journal.OpenReadOnly(filepath.Join(dir, JournalFile), readTimeout)
	if err != nil {
		return nil, describeLockHolder(dir, err)
	}
	return &Archive{opened}, nil
}

// Close closes the journal, so that a node can use the directory again.
func (a *Archive) Close() error { return a.journal.Close() }

// Tasks returns the IDs of the tasks in the journal, sorted.
func (a *Archive) Tasks() ([]string, error) { return a.journal.Tasks() }

// History returns the journal's content for the task with this ID. If the journal does not contain
// the task, the error wraps fs.ErrNotExist. If the task's strategy is not in the set, it wraps a
// *strategy.UnknownError. If records are damaged, it wraps journal.ErrDamaged.
func (a *Archive) History(id string, strategies strategy.Set) (agent.History, error) {
	return historyIn(a.journal, id, strategies)
}

// historyIn returns a journal's content for a task.
func historyIn(j *journal.Journal, id string, strategies strategy.Set) (agent.History, error) {
	log, err := j.Log(id)
	if err != nil {
		return agent.History{}, err
	}
	records, err := ReadLog(log)
	if err != nil {
		return agent.History{}, err
	}
	if len(records) == 0 {
		return agent.History{}, fmt.Errorf("task %q in %s: %w", id, j.Path(), fs.ErrNotExist)
	}
	h, err := agent.ReadHistory(records, strategies)
	if err != nil {
		return agent.History{}, err
	}
	if h.Task.ID().String() != id {
		return agent.History{}, misplaced(j.Path(), id, h.Task)
	}
	repaired, err := repairOf(j)
	if err != nil {
		return agent.History{}, err
	}
	if repaired != nil && h.Spent != nil && h.Spent.Refused == "" {
		h.Spent.Refused = repaired.unaccounted()
	}
	return h, nil
}
