package past

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
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// History holds the data about a node's part in one task, from the running node or from the journal
// of a stopped one.
type History struct {
	Task    *task.Task
	Trials  []strategy.Trial
	Best    *strategy.Trial
	Epoch   uint64
	Stopped *agent.Stopped        // why the latest run stopped itself; nil if it ended for another reason, or there are trials since
	Items   []strategy.StatusItem // of a stopped node only those of endedItems
	Running *node.Status          // nil if the node does not run
	Tag     string                // tag of the task if the node has joined it by invitation
	Queue   []agent.Queued        // of a stopped node: designs that were enqueued while it ran

	// preferred returns the recommended design if outcomes are so noisy that it is preferable to
	// the best observed one; nil otherwise. It may take as long as a suggestion.
	Preferred func(context.Context) (*agent.Recommendation, error)
}

// endedItems returns the items that are known of a node that does not run: the spent privacy budget,
// and the effect of peers' shares on predictions.
func endedItems(h node.History) (items []strategy.StatusItem) {
	if h.Spent != nil {
		items = append(items, strategy.PrivacyItem(*h.Spent))
	}
	if r := base.RegistrationOf(h.Task); r.Shares() {
		items = append(items, strategy.PeerEffectOf(h.Task, r.Disclosure(h.Task), h.Trials).Item())
	}
	return items
}

// Read returns the task that an argument names, as FindTask does, and its trials; an empty argument
// names the only task.
func Read(ctx context.Context, dir, wanted string) (History, error) {
	served, ok, err := control.Tasks(ctx, dir)
	if err != nil {
		return History{}, err
	}
	var p History
	if ok {
		p, err = readServed(ctx, dir, served, wanted)
	} else {
		p, err = readJournal(dir, wanted)
	}
	if err != nil {
		return History{}, err
	}
	p.Tag, err = base.KeptTag(dir, p.Task.ID().String())
	return p, err
}

// readServed asks a running node about the task that an argument names.
func readServed(ctx context.Context, dir string, served []taskref.Ref, wanted string) (History, error) {
	found, err := Served(dir, served, wanted)
	if errors.Is(err, taskref.ErrUnknown) {
		err = fmt.Errorf("%w; stop it to read about others", err)
	}
	if err != nil {
		return History{}, err
	}
	s, ok, err := control.Task(ctx, dir, found.ID)
	if err != nil {
		return History{}, err
	}
	if !ok { // it has ended in the meantime
		return readJournal(dir, found.ID)
	}
	p, err := OfRunning(s)
	p.Preferred = func(ctx context.Context) (*agent.Recommendation, error) {
		return askPreferred(ctx, dir, found.ID, p.Task.Space)
	}
	return p, err
}

// askPreferred asks a running node for the design that is preferable to the best one; none if the
// node has ended in the meantime.
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

// OfRunning decodes the answer of a running node about a task.
func OfRunning(s control.TaskState) (History, error) {
	t, err := all.Strategies().Parse("running node", s.Task)
	if err != nil {
		return History{}, err
	}
	p := History{Task: t, Running: &node.Status{}}
	if err := json.Unmarshal(s.Status, &struct {
		*node.Status
		Best json.RawMessage `json:"best"` // needs the space; the trials contain the best one too
	}{Status: p.Running}); err != nil {
		return History{}, fmt.Errorf("the running node's answer: %w", err)
	}
	for _, encoded := range s.Trials {
		trial, err := DecodeTrial(encoded, t.Space)
		if err != nil {
			return History{}, fmt.Errorf("the running node's answer: %w", err)
		}
		p.Trials = append(p.Trials, trial)
	}
	p.Best, p.Epoch, p.Items, p.Stopped = strategy.Best(t, p.Trials), p.Running.Starts, p.Running.Items, p.Running.Stopped
	return p, nil
}

// DecodeTrial decodes a trial, whose design needs the space.
func DecodeTrial(encoded []byte, space *task.Space) (strategy.Trial, error) {
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

func readJournal(dir, wanted string) (History, error) {
	j, err := openJournal(dir)
	if err != nil {
		return History{}, OrMissingFile(wanted, orNothing(dir, err))
	}
	defer j.Close()
	found, err := j.find(dir, wanted)
	if err != nil {
		return History{}, err
	}
	return j.read(found.ID)
}

// Interrupted is the state of a trial that ran when its node was killed: according to the journal
// it is still running. The next start offers it again. Evaluations of clients outside the node
// continue.
const Interrupted strategy.State = "interrupted"

// FindTask returns the task that an argument names: a task file, or a task of the data
// directory.
func FindTask(ctx context.Context, flag, wanted string) (*task.Task, error) {
	if t, err := base.FileTask(wanted); t != nil || err != nil {
		return t, err
	}
	dir, err := base.ResolveDataDir(flag)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, store.JournalFile)); errors.Is(err, fs.ErrNotExist) {
		return base.ReadTask(wanted) // only a file can have been meant
	}
	p, err := Read(ctx, dir, wanted)
	if err != nil {
		return nil, err
	}
	return p.Task, nil
}
