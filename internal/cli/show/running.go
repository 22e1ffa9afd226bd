package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/taskref"
)

// runningJSON is the result of status --running: processes that answer.
type runningJSON struct {
	Running bool         `json:"running"`
	Node    *nodeAnswer  `json:"node,omitempty"`
	Hub     *control.Hub `json:"hub,omitempty"`
}

type nodeAnswer struct {
	Task string `json:"task,omitempty"` // the requested task, or the only one
	Name string `json:"name,omitempty"`

	Tasks []taskref.Ref `json:"tasks,omitempty"` // if there are several and none was requested

	Starting string `json:"starting,omitempty"` // number of joined tasks of the last start, until all are joined
}

// findRunning asks the node of a data directory and, if no task is requested, also its hub.
func findRunning(ctx context.Context, dir, wanted string) (r runningJSON, err error) {
	if _, err := base.FileTask(wanted); err != nil {
		return runningJSON{}, err
	}
	served, ok, err := control.Tasks(ctx, dir)
	if err != nil {
		return runningJSON{}, err
	}
	if ok {
		var at struct {
			Starting string `json:"starting"`
		}
		if _, err := control.Ask(ctx, dir, "/v1/node", &at); err != nil {
			return runningJSON{}, err
		}
		r.Running, r.Node = true, &nodeAnswer{Starting: at.Starting}
		switch {
		case at.Starting != "" && wanted != "": // the task may be one that is not joined yet
		case wanted != "" || len(served) == 1:
			found, err := past.Served(dir, served, wanted)
			if err != nil {
				return runningJSON{}, err
			}
			r.Node.Task, r.Node.Name = found.ID, found.Name
		default:
			r.Node.Tasks = served
		}
	}
	if wanted != "" {
		if !ok {
			err = past.OrMissingFile(wanted, nil)
		}
		return r, err
	}
	for _, place := range []string{dir, control.HubDir(dir)} {
		var hub control.Hub
		if ok, err := control.AskSocket(ctx, filepath.Join(place, control.HubSocket), "/", &hub); err != nil {
			return runningJSON{}, fmt.Errorf("the running hub: %w", err)
		} else if ok {
			r.Running, r.Hub = true, &hub
		}
	}
	return r, nil
}

// runningPatience is the maximum time for the answer of a node or hub that counts as running.
const runningPatience = 5 * time.Second

// showRunning fails if nothing runs, so that supervisors and scripts can use it.
func showRunning(ctx context.Context, out io.Writer, dir, wanted string, asJSON bool) error {
	ctx, cancel := control.Within(ctx, runningPatience)
	defer cancel()
	r, err := findRunning(ctx, dir, wanted)
	if err != nil {
		return err
	}
	if asJSON {
		err = base.PrintJSON(out, r)
	} else {
		switch {
		case r.Node == nil:
		case r.Node.Starting != "":
			fmt.Fprintf(out, "node      running, %s\n", r.Node.Starting)
		case r.Node.Task != "":
			fmt.Fprintf(out, "node      running, task %s, id %s\n", r.Node.Name, r.Node.Task)
		default:
			fmt.Fprintf(out, "node      running, %s\n", taskref.List(r.Node.Tasks))
		}
		if r.Hub != nil {
			fmt.Fprintf(out, "hub       %s, running\n", r.Hub.PeerID)
		}
	}
	switch {
	case r.Running:
		return err
	case wanted != "":
		return errors.Join(err, fmt.Errorf("no node runs on data directory %s", dir))
	}
	return errors.Join(err, fmt.Errorf("no node and no hub runs on data directory %s", dir))
}
