// Package trialcmd contains the commands by which people evaluate trials by hand: ask and tell. Both
// send requests of the HTTP interface to the node that runs on the data directory.
package trialcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/bounded"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// defaultClient is the name under which people hold trials.
const defaultClient = "by hand"

// place is a task of a running node, for one client.
type place struct {
	dir    string
	client string
	wanted string // the argument that names the task; may be empty
	id     string
	task   *task.Task
}

// find returns the place of a task that an argument names. create joins a task whose file the
// argument names, and on which the node does not work yet; nil: this is an error.
func find(ctx context.Context, dir, client, wanted string, create func(context.Context, *task.Task) error) (place, error) {
	if err := agent.CheckClient(client); err != nil {
		return place{}, base.Usagef("--client: %w", err)
	}
	found, err := past.FindServed(ctx, dir, wanted)
	if of, isFile := base.FileTask(wanted); errors.Is(err, taskref.ErrUnknown) && create != nil && isFile == nil && of != nil {
		found, err = taskref.Ref{ID: of.ID().String()}, create(ctx, of)
	}
	if err != nil && wanted == "" && create != nil {
		err = fmt.Errorf("%w; `fbo-node ask TASK` takes a task file too", err)
	}
	if err != nil {
		return place{}, err
	}
	p := place{dir: dir, client: client, wanted: wanted, id: found.ID}
	var shown struct {
		Task json.RawMessage `json:"task"`
	}
	if err := p.get(ctx, "", &shown); err != nil {
		return place{}, err
	}
	p.task, err = all.Strategies().Parse("running node", shown.Task)
	return p, err
}

// tellLine returns a command tell about a trial of the place; dir is the flag --data-dir.
func (p place) tellLine(dir string, trial uint64, words ...string) string {
	line := []string{"fbo-node", tellCommand}
	if p.wanted != "" {
		line = append(line, base.ShellQuote(p.wanted))
	}
	line = append(append(line, fmt.Sprint(trial)), words...)
	if dir != "" {
		line = append(line, "--data-dir", base.ShellQuote(dir))
	}
	return strings.Join(line, " ")
}

// get reads the object of the node's answer about the task.
func (p place) get(ctx context.Context, path string, into any) error {
	return p.answered(control.Ask(ctx, p.dir, p.path(path), into))
}

// post sends an object about the task and reads the object of the node's answer.
func (p place) post(ctx context.Context, path string, body, into any) error {
	return p.answered(control.Post(ctx, p.dir, p.path(path), body, into))
}

func (p place) path(path string) string { return "/v1/tasks/" + p.id + path }

func (p place) answered(ok bool, err error) error {
	if err == nil && !ok {
		err = past.NoNode(p.dir)
	}
	return err
}

// trial is a trial of the node's answer.
type trial struct {
	strategy.Trial
	LeaseEnds time.Time
	encoded   json.RawMessage // as history --json prints it, with the end of the lease
}

func (p place) decode(encoded []json.RawMessage) (trials []trial, err error) {
	for _, data := range encoded {
		one := trial{encoded: data}
		if one.Trial, err = past.DecodeTrial(data, p.task.Space); err == nil {
			err = json.Unmarshal(data, &struct {
				LeaseEnds *time.Time `json:"lease_ends"`
			}{&one.LeaseEnds})
		}
		if err != nil {
			return nil, fmt.Errorf("the running node's answer: %w", err)
		}
		trials = append(trials, one)
	}
	return trials, nil
}

// open returns the trials that the client holds.
func (p place) open(ctx context.Context) ([]trial, error) {
	var page struct {
		Trials []json.RawMessage `json:"trials"`
	}
	query := url.Values{"state": {string(strategy.Running)}, "client": {p.client}, "limit": {fmt.Sprint(maxHeld)}}
	if err := p.get(ctx, "/trials?"+query.Encode(), &page); err != nil {
		return nil, err
	}
	return p.decode(page.Trials)
}

// maxTable is the maximum size of a table of designs in bytes. With the text of the task it fits into
// a request.
const maxTable = 24 << 20

// order is a task to join, as POST /v1/tasks expects it.
type order struct {
	Text       string            `json:"text"`
	Tables     map[string]string `json:"tables,omitempty"`
	Invitation string            `json:"invitation,omitempty"`
}

// newOrder reads the task file and the files that it names.
func newOrder(file string, t *task.Task, invite string) (o order, err error) {
	text, err := bounded.ReadFile(file, task.MaxFileBytes)
	if err != nil {
		return o, base.Usagef("task file: %w", err)
	}
	o.Text = string(text)
	if listing := t.Space.Listing(); listing != nil && listing.File() != "" {
		table := listing.File()
		rows, err := bounded.ReadFile(filepath.Join(filepath.Dir(file), table), maxTable)
		if err != nil {
			return o, base.BadUsage(err)
		}
		o.Tables = map[string]string{table: string(rows)}
	}
	if i, err := base.ReadInvite(invite, t); err != nil {
		return o, err
	} else if i != nil {
		o.Invitation = i.Text()
	}
	return o, nil
}
