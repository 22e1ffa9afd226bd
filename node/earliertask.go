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

// EarlierTask is another task in the data directory, of the same name as one that has no trials. It
// is often the same task before a change of its file.
type EarlierTask struct {
	Task    string   `json:"task"` // its ID
	Trials  int      `json:"trials"`
	Changed []string `json:"changed"` // how the new task differs from it
}

// earlierTasksOf returns the tasks with trials of the same name, the one that changed last first. What
// cannot be read is left out. The caller holds mu.
func (n *Node) earlierTasksOf(t *task.Task) (earlierTasks []EarlierTask) {
	own := t.ID().String()
	changed := map[string]time.Time{}
	for id, name := range n.names {
		if name != t.Name || id == own {
			continue
		}
		h, err := n.History(id)
		if err != nil || len(h.Trials) == 0 {
			continue
		}
		changed[id] = strategy.LastChange(h.Trials)
		earlierTasks = append(earlierTasks, EarlierTask{Task: id, Trials: len(h.Trials), Changed: task.Differences(h.Task, t)})
	}
	slices.SortFunc(earlierTasks, func(a, b EarlierTask) int { return changed[b.Task].Compare(changed[a.Task]) })
	return earlierTasks
}

// earlierTaskText is the warning about former tasks; the first of them is described.
func earlierTaskText(t *task.Task, earlierTasks []EarlierTask) string {
	f := earlierTasks[0]
	short := taskref.Short(f.Task)
	text := fmt.Sprintf("task %q (%s) starts without trials: the data directory has %s of another task of this name, %s",
		t.Name, taskref.Short(t.ID().String()), sanitize.Count(f.Trials, "trial"), short)
	if more := len(earlierTasks) - 1; more > 0 {
		text += fmt.Sprintf(" (and of %d more)", more)
	}
	if len(f.Changed) > 0 {
		text += "; changed: " + sanitize.List(f.Changed)
	}
	return text + fmt.Sprintf(". To use them: `fbo-node history %s --format csv > past.csv`, then `run --import past.csv` (docs/changing-a-task.md)", short)
}
