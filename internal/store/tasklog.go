package store

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// ReadLog returns the records of a task, in order.
func ReadLog(log *journal.Log) ([]agent.Record, error) {
	var records []agent.Record
	err := log.Replay(func(entry journal.Entry) error {
		record, err := agent.DecodeRecord(entry.Data)
		records = append(records, record)
		return err
	})
	return records, err
}

// checkTasks reads the whole journal, before the node uses the network. It detects damaged records.
// It also verifies that each task is stored under its own ID: otherwise a node would not find its
// task and would begin again without trials. It returns, by ID, the names of the tasks that this
// version can read.
func checkTasks(j *journal.Journal, strategies strategy.Set) (names map[string]string, err error) {
	ids, err := j.Tasks()
	if err != nil {
		return nil, err
	}
	names = map[string]string{}
	for _, id := range ids {
		log, err := j.Log(id)
		if err != nil {
			return nil, err
		}
		checked := false
		err = log.Replay(func(entry journal.Entry) error {
			if checked {
				return nil
			}
			var t *task.Task
			var err error
			if t, checked, err = checkTask(j.Path(), id, entry, strategies); t != nil {
				names[id] = t.Name
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// checkTask compares the ID with the task in an entry; checked is false if the entry has no task.
// It does not compare tasks that this version cannot read.
func checkTask(path, id string, entry journal.Entry, strategies strategy.Set) (t *task.Task, checked bool, err error) {
	record, err := agent.DecodeRecord(entry.Data)
	if err != nil || record.Task == nil {
		return nil, false, nil
	}
	t, err = strategies.Parse("journal", record.Task.File)
	if err != nil {
		return nil, true, nil
	}
	if t.ID().String() != id {
		return nil, true, misplaced(path, id, t)
	}
	return t, true, nil
}

func misplaced(path, id string, t *task.Task) error {
	return fmt.Errorf("%s is %w: what it holds under task %q is about task %s", path, journal.ErrDamaged, id, t.ID())
}
