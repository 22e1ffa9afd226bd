package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// PreviousTask is another task in the data directory, with the name of a new task that has no
// trials yet. It is often the same task before a change of its file.
type PreviousTask struct {
	Task        string   `json:"task"` // ID of the previous task
	Trials      int      `json:"trials"`
	Differences []string `json:"differences"` // differences between the files of the two tasks
}

// previousTasksOf returns the tasks that have trials and the name of t, latest change first. It
// skips unreadable data.
func (n *Node) previousTasksOf(t *task.Task) (previousTasks []PreviousTask) {
	own := t.ID().String()
	changed := map[string]time.Time{}
	for _, id := range n.store.Named(t.Name) {
		if id == own {
			continue
		}
		h, err := n.store.History(id)
		if err != nil || len(h.Trials) == 0 {
			continue
		}
		changed[id] = strategy.LastChange(h.Trials)
		previousTasks = append(previousTasks, PreviousTask{Task: id, Trials: len(h.Trials), Differences: task.Differences(h.Task, t)})
	}
	slices.SortFunc(previousTasks, func(a, b PreviousTask) int { return changed[b.Task].Compare(changed[a.Task]) })
	return previousTasks
}

// previousTaskText returns the warning about previous tasks. It lists the differences to the first
// of them.
func previousTaskText(t *task.Task, previousTasks []PreviousTask) string {
	f := previousTasks[0]
	short := taskref.Short(f.Task)
	text := fmt.Sprintf("task %q (%s) starts without trials: the data directory has %s of another task of this name, %s",
		t.Name, taskref.Short(t.ID().String()), sanitize.Count(f.Trials, "trial"), short)
	if more := len(previousTasks) - 1; more > 0 {
		text += fmt.Sprintf(" (and of %d more)", more)
	}
	if len(f.Differences) > 0 {
		text += "; changed: " + sanitize.List(f.Differences)
	}
	return text + fmt.Sprintf(". To use them: add `continues: %s` to the task file; or `fbo-node history %s --format csv > past.csv`, then `run --import past.csv` (docs/changing-a-task.md)", f.Task, short)
}
