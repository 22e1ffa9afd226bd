package node

import (
	"errors"
	"fmt"

	"github.com/fbo-node/fbo/agent"
	"github.com/fbo-node/fbo/journal"
	"github.com/fbo-node/fbo/task"
)

// ReadLog returns a task's records, in order.
func ReadLog(log *journal.Log) ([]agent.Record, error) {
	var records []agent.Record
	err := log.Replay(func(entry journal.Entry) error {
		record, err := agent.DecodeRecord(entry.Data)
		records = append(records, record)
		return err
	})
	return records, err
}

var errFound = errors.New("found")

// checkTasks makes sure that each task in the journal lies under its own ID: under
// a damaged one nobody would look for it, and its node would begin anew.
func checkTasks(j *journal.Journal) error {
	ids, err := j.Tasks()
	if err != nil {
		return err
	}
	for _, id := range ids {
		log, err := j.Log(id)
		if err != nil {
			return err
		}
		err = log.Replay(func(entry journal.Entry) error { return checkTask(id, entry) })
		if err != nil && !errors.Is(err, errFound) {
			return err
		}
	}
	return nil
}

// checkTask returns errFound for an entry that says which task this is. A task that
// this version cannot read is somebody else's concern.
func checkTask(id string, entry journal.Entry) error {
	record, err := agent.DecodeRecord(entry.Data)
	if err != nil || record.Task == nil {
		return nil
	}
	if t, err := task.Parse("journal", record.Task.Canonical); err == nil && t.ID().String() != id {
		return fmt.Errorf("node: journal is %w: what it holds under task %q is about task %s", journal.ErrDamaged, id, t.ID())
	}
	return errFound
}
