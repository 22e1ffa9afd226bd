package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/agent"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/privacy/ledger"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// past is what is known about a node's part in one task, from the running node
// or from the journal of a stopped one.
type past struct {
	task    *task.Task
	trials  []strategy.Trial
	best    *strategy.Trial
	epoch   uint64
	enough  *agent.EnoughRecord // why the latest run ended; nil when it did otherwise, or there are trials since
	spent   *ledger.State       // nil when the task promises no privacy
	running *node.Status        // nil when the node does not run
	tag     string              // by which it takes part with an invitation
}

// readPast finds the task by its file or ID; empty means the only one there is.
func readPast(ctx context.Context, dir, wanted string) (past, error) {
	id, err := wantedID(ctx, dir, wanted)
	if err != nil {
		return past{}, err
	}
	tasks, ok, err := servedTasks(ctx, dir)
	if err != nil {
		return past{}, err
	}
	var p past
	if ok {
		p, err = pastOfServed(ctx, dir, tasks, id)
	} else {
		p, err = pastOfJournal(dir, id)
	}
	if err != nil {
		return past{}, err
	}
	p.tag, err = keptTag(dir, p.task.ID().String())
	return p, err
}

// wantedID accepts a task file or an ID.
func wantedID(ctx context.Context, dir, wanted string) (id string, err error) {
	id, _, err = wantedTask(ctx, dir, wanted)
	return id, err
}

// wantedTask also tells the name, which an ID does not.
func wantedTask(ctx context.Context, dir, wanted string) (id, name string, err error) {
	if wanted == "" {
		return "", "", nil
	}
	if _, err := os.Stat(wanted); errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(wanted, "./\\") {
		return wanted, "", nil
	}
	t, err := readTask(wanted)
	if err != nil {
		return "", "", err
	}
	return t.ID().String(), t.Name, nil
}

// pastOfServed asks a running node about one of its tasks; empty means the only one.
func pastOfServed(ctx context.Context, dir string, tasks []servedTask, id string) (past, error) {
	id, err := servedID(dir, tasks, id)
	if err != nil {
		return past{}, err
	}
	s, ok, err := askTask(ctx, dir, id)
	if err != nil {
		return past{}, err
	}
	if !ok { // it has ended meanwhile
		return pastOfJournal(dir, id)
	}
	return pastOfRunning(s)
}

// servedID checks which task of a running node is meant; empty means the only one.
func servedID(dir string, tasks []servedTask, id string) (string, error) {
	switch {
	case id == "" && len(tasks) == 0:
		return "", fmt.Errorf("the node that runs on data directory %s serves no task yet", dir)
	case id == "" && len(tasks) == 1:
		return tasks[0].ID, nil
	case id == "":
		return "", usagef("the node that runs on data directory %s works on %d tasks, say which: %s", dir, len(tasks), tasksText(tasks))
	case !slices.ContainsFunc(tasks, func(t servedTask) bool { return t.ID == id }):
		return "", fmt.Errorf("the node that runs on this data directory works on %s; stop it to read about others", tasksText(tasks))
	}
	return id, nil
}

// tasksText lists tasks by ID and name.
func tasksText(tasks []servedTask) string {
	if len(tasks) == 0 {
		return "no task"
	}
	var list []string
	for _, t := range tasks {
		list = append(list, fmt.Sprintf("%s (%s)", t.ID, t.Name))
	}
	if len(list) == 1 {
		return "task " + list[0]
	}
	return fmt.Sprintf("%d tasks: %s", len(list), strings.Join(list, ", "))
}

func pastOfRunning(s state) (past, error) {
	t, err := all.Strategies().Parse("running node", s.Task)
	if err != nil {
		return past{}, err
	}
	p := past{task: t, running: &node.Status{}}
	if err := json.Unmarshal(s.Status, &struct {
		*node.Status
		Best json.RawMessage `json:"best"` // a design needs its space to be read; the trials tell the best too
	}{Status: p.running}); err != nil {
		return past{}, fmt.Errorf("the running node's answer: %w", err)
	}
	for _, encoded := range s.Trials {
		trial, err := decodeTrial(encoded, t.Space)
		if err != nil {
			return past{}, fmt.Errorf("the running node's answer: %w", err)
		}
		p.trials = append(p.trials, trial)
	}
	p.best, p.epoch, p.spent, p.enough = strategy.Best(t, p.trials), p.running.Epoch, p.running.Privacy, p.running.Enough
	return p, nil
}

func decodeTrial(encoded []byte, space *task.Space) (strategy.Trial, error) {
	var trial strategy.Trial
	wire := struct {
		*strategy.Trial
		Design json.RawMessage `json:"parameters"` // needs the space to be read
	}{Trial: &trial}
	if err := json.Unmarshal(encoded, &wire); err != nil {
		return trial, err
	}
	design, err := space.UnmarshalDesign(wire.Design)
	trial.Design = design
	return trial, err
}

func pastOfJournal(dir, id string) (past, error) {
	archive, err := node.OpenArchive(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return past{}, fmt.Errorf("nothing has run with data directory %s yet", dir)
	}
	if err != nil {
		return past{}, err
	}
	defer archive.Close()
	tasks, err := archive.Tasks()
	if err != nil {
		return past{}, err
	}
	if id == "" {
		switch len(tasks) {
		case 0: // a run that failed before it joined its task
			return past{}, fmt.Errorf("nothing has run with data directory %s yet", dir)
		case 1:
			id = tasks[0]
		default:
			return past{}, sayWhich(dir, archive, tasks)
		}
	}
	if !slices.Contains(tasks, id) {
		return past{}, fmt.Errorf("data directory %s knows nothing of task %s", dir, id)
	}
	h, err := archive.History(id, all.Strategies())
	if err != nil {
		return past{}, err
	}
	for i, trial := range h.Trials {
		if trial.State == strategy.Running && trial.Client == "" {
			h.Trials[i].State = interrupted
		}
	}
	return past{task: h.Task, trials: h.Trials, best: h.Best, epoch: h.Epoch, enough: h.Enough, spent: h.Spent}, nil
}

// interrupted is a trial that ran when its node ended without a goodbye: the
// journal still holds it for running. The next start offers it again. What a client
// outside of the node evaluates goes on.
const interrupted strategy.State = "interrupted"

// sayWhich lists the tasks by name and ID.
func sayWhich(dir string, archive *node.Archive, tasks []string) error {
	var list []string
	for _, id := range tasks {
		h, err := archive.History(id, all.Strategies())
		if unknown, is := errors.AsType[*strategy.UnknownError](err); is {
			list = append(list, fmt.Sprintf("%s (strategy %q, unknown to this program)", id, unknown.Type))
			continue
		}
		if err != nil {
			return err
		}
		list = append(list, fmt.Sprintf("%s (%s)", id, h.Task.Name))
	}
	return usagef("data directory %s holds %d tasks, say which: %s", dir, len(tasks), strings.Join(list, ", "))
}
