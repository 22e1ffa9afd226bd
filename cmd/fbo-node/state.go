package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// taskHistory is what is known about a node's part in one task, from the running node
// or from the journal of a stopped one.
type taskHistory struct {
	task    *task.Task
	trials  []strategy.Trial
	best    *strategy.Trial
	epoch   uint64
	stopped *agent.Stopped        // why the latest run ended; nil when it did otherwise, or there are trials since
	items   []strategy.StatusItem // of a stopped node only what it has spent of a promise of privacy
	running *node.Status          // nil when the node does not run
	tag     string                // by which it takes part with an invitation

	// preferred returns the recommended design where outcomes are so noisy that it is to be
	// preferred to the best one; nil where they are not. It may take as long as a suggestion.
	preferred func(context.Context) (*agent.Recommendation, error)
}

// spentItems returns the item about a promise of privacy; none for nil.
func spentItems(s *ledger.State) []strategy.StatusItem {
	if s == nil {
		return nil
	}
	return []strategy.StatusItem{strategy.PrivacyItem(*s)}
}

// readPast reads the task that an argument names, as findTask does, and its trials; empty names
// the only task.
func readPast(ctx context.Context, dir, wanted string) (taskHistory, error) {
	served, ok, err := control.Tasks(ctx, dir)
	if err != nil {
		return taskHistory{}, err
	}
	var p taskHistory
	if ok {
		p, err = pastOfServed(ctx, dir, served, wanted)
	} else {
		p, err = pastOfJournal(dir, wanted)
	}
	if err != nil {
		return taskHistory{}, err
	}
	p.tag, err = base.KeptTag(dir, p.task.ID().String())
	return p, err
}

// pastOfServed asks a running node about the task that an argument names.
func pastOfServed(ctx context.Context, dir string, served []taskref.Ref, wanted string) (taskHistory, error) {
	found, err := past.Served(dir, served, wanted)
	if err != nil {
		return taskHistory{}, err
	}
	s, ok, err := control.Task(ctx, dir, found.ID)
	if err != nil {
		return taskHistory{}, err
	}
	if !ok { // it has ended meanwhile
		return pastOfJournal(dir, found.ID)
	}
	p, err := pastOfRunning(s)
	p.preferred = func(ctx context.Context) (*agent.Recommendation, error) {
		return askPreferred(ctx, dir, found.ID, p.task.Space)
	}
	return p, err
}

// askPreferred asks a running node which design is to be preferred to the best one; none is where
// the node has ended meanwhile.
func askPreferred(ctx context.Context, dir, id string, space *task.Space) (*agent.Recommendation, error) {
	var answer struct {
		Recommended *struct {
			agent.Recommendation
			Design json.RawMessage `json:"parameters"` // needs the space to be read
		} `json:"recommended"`
	}
	if ok, err := control.Ask(ctx, dir, "/v1/tasks/"+id+"/best", &answer); err != nil || !ok || answer.Recommended == nil {
		return nil, err
	}
	r := answer.Recommended.Recommendation
	var err error
	if r.Design, err = space.UnmarshalDesign(answer.Recommended.Design); err != nil {
		return nil, fmt.Errorf("the running node's answer: %w", err)
	}
	return &r, nil
}

func pastOfRunning(s control.TaskState) (taskHistory, error) {
	t, err := all.Strategies().Parse("running node", s.Task)
	if err != nil {
		return taskHistory{}, err
	}
	p := taskHistory{task: t, running: &node.Status{}}
	if err := json.Unmarshal(s.Status, &struct {
		*node.Status
		Best json.RawMessage `json:"best"` // a design needs its space to be read; the trials tell the best too
	}{Status: p.running}); err != nil {
		return taskHistory{}, fmt.Errorf("the running node's answer: %w", err)
	}
	for _, encoded := range s.Trials {
		trial, err := decodeTrial(encoded, t.Space)
		if err != nil {
			return taskHistory{}, fmt.Errorf("the running node's answer: %w", err)
		}
		p.trials = append(p.trials, trial)
	}
	p.best, p.epoch, p.items, p.stopped = strategy.Best(t, p.trials), p.running.Starts, p.running.Items, p.running.Stopped
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

func pastOfJournal(dir, wanted string) (taskHistory, error) {
	archive, err := past.OpenArchive(dir)
	if err != nil {
		return taskHistory{}, past.OrMissingFile(wanted, err)
	}
	defer archive.Close()
	found, err := past.Archived(dir, archive, wanted)
	if err != nil {
		return taskHistory{}, err
	}
	h, err := archive.History(found.ID, all.Strategies())
	if err != nil {
		return taskHistory{}, err
	}
	markInterrupted(h.Trials)
	return taskHistory{task: h.Task, trials: h.Trials, best: h.Best, epoch: h.Epoch, stopped: h.Stopped, items: spentItems(h.Spent), preferred: h.Preferred}, nil
}

// interrupted is a trial that ran when its node ended without a goodbye: the
// journal still holds it for running. The next start offers it again. What a client
// outside of the node evaluates goes on.
const interrupted strategy.State = "interrupted"

// markInterrupted gives trials of a node that has ended the state interrupted.
func markInterrupted(trials []strategy.Trial) {
	for i, trial := range trials {
		if trial.State == strategy.Running && trial.Client == "" {
			trials[i].State = interrupted
		}
	}
}

// findTask returns the task that an argument names: a task file, or a task of the data
// directory.
func findTask(ctx context.Context, flag, wanted string) (*task.Task, error) {
	if t, err := base.FileTask(wanted); t != nil || err != nil {
		return t, err
	}
	dir, err := base.ResolveDataDir(flag)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, node.JournalFile)); errors.Is(err, fs.ErrNotExist) {
		return base.ReadTask(wanted) // only a file can have been meant
	}
	p, err := readPast(ctx, dir, wanted)
	if err != nil {
		return nil, err
	}
	return p.task, nil
}
