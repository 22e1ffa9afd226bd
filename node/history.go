package node

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/fbo-node/fbo/agent"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/strategy"
)

// Errors about a journal, of Node.Start and of those who read it.
var (
	// ErrBusy: another process has the journal open.
	ErrBusy = journal.ErrBusy
	// ErrDamaged: the journal is not as it was written.
	ErrDamaged = journal.ErrDamaged
)

const readTimeout = time.Second

// ReadTasks returns the IDs of the tasks in the journal of a node's directory, sorted.
// No node may run on it: after a second the error wraps ErrBusy. It wraps
// fs.ErrNotExist where there is no journal, and ErrDamaged where it cannot be read.
func ReadTasks(dir string) (ids []string, err error) {
	opened, err := readJournal(dir)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return opened.Tasks()
}

// ReadHistory returns what the journal of a node's directory tells about the task with
// this ID. The errors are those of ReadTasks; for a task that is not in the journal it
// wraps fs.ErrNotExist too, and for one whose strategy is not in the set a
// *strategy.UnknownError.
func ReadHistory(dir, id string, strategies strategy.Set) (agent.History, error) {
	opened, err := readJournal(dir)
	if err != nil {
		return agent.History{}, err
	}
	defer opened.Close()
	log, err := opened.Log(id)
	if err != nil {
		return agent.History{}, err
	}
	records, err := readLog(log)
	if err != nil {
		return agent.History{}, err
	}
	if len(records) == 0 {
		return agent.History{}, fmt.Errorf("node: task %q in %s: %w", id, opened.Path(), fs.ErrNotExist)
	}
	h, err := agent.ReadHistory(records, strategies)
	if err != nil {
		return agent.History{}, err
	}
	if h.Task.ID().String() != id {
		return agent.History{}, misplaced(opened.Path(), id, h.Task)
	}
	return h, nil
}

func readJournal(dir string) (*journal.Journal, error) {
	return journal.OpenReadOnly(filepath.Join(dir, JournalFile), readTimeout)
}
