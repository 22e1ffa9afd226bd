package node

import (
	"fmt"

	"github.com/fbo-node/fbo/agent"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// readLog returns a task's records, in order.
func readLog(log *journal.Log) ([]agent.Record, error) {
	var records []agent.Record
	err := log.Replay(func(entry journal.Entry) error {
		record, err := agent.DecodeRecord(entry.Data)
		records = append(records, record)
		return err
	})
	return records, err
}

// checkTasks reads all that the journal holds, before there is a network: a damaged
// record is found, and each task must lie under its own ID, since under a damaged one
// nobody would look for it and its node would begin anew.
func checkTasks(j *journal.Journal, strategies strategy.Set) error {
	ids, err := j.Tasks()
	if err != nil {
		return err
	}
	for _, id := range ids {
		log, err := j.Log(id)
		if err != nil {
			return err
		}
		checked := false
		err = log.Replay(func(entry journal.Entry) (err error) {
			if !checked {
				checked, err = checkTask(j.Path(), id, entry, strategies)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkTask compares the ID with what an entry says of the task; false when it says
// nothing. A task that this version cannot read is somebody else's concern.
func checkTask(path, id string, entry journal.Entry, strategies strategy.Set) (checked bool, err error) {
	record, err := agent.DecodeRecord(entry.Data)
	if err != nil || record.Task == nil {
		return false, nil
	}
	if t, err := strategies.Parse("journal", record.Task.Canonical); err == nil && t.ID().String() != id {
		return true, misplaced(path, id, t)
	}
	return true, nil
}

func misplaced(path, id string, t *task.Task) error {
	return fmt.Errorf("node: %s is %w: what it holds under task %q is about task %s", path, ErrDamaged, id, t.ID())
}
