package past

import (
	"context"
	"fmt"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/taskref"
)

// startPatience is the maximum time to wait for a node that joins the tasks of its last start.
const startPatience = time.Minute

// startPause is the time between two requests to such a node.
const startPause = 200 * time.Millisecond

// FindServed returns the task of the running node that an argument names. A task that is not found
// may be one of the last start that the node has not joined yet.
func FindServed(ctx context.Context, dir, wanted string) (taskref.Ref, error) {
	patience, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for {
		var at struct {
			Starting string `json:"starting"`
		}
		ok, err := control.Ask(ctx, dir, "/v1/node", &at)
		if err != nil {
			return taskref.Ref{}, err
		}
		tasks, listed, err := control.Tasks(ctx, dir)
		if err != nil {
			return taskref.Ref{}, err
		}
		if !ok || !listed {
			return taskref.Ref{}, OrMissingFile(wanted, NoNode(dir))
		}
		found, err := Served(dir, tasks, wanted)
		if err == nil || at.Starting == "" {
			return found, err
		}
		select {
		case <-patience.Done():
			return taskref.Ref{}, fmt.Errorf("%w; the node is %s", err, at.Starting)
		case <-time.After(startPause):
		}
	}
}

// NoNode returns the error of a data directory on which no node runs, with the command that starts
// one.
func NoNode(dir string) error {
	start := "fbo-node serve"
	if otherwise, err := base.NameDataDir(""); err != nil || otherwise != dir {
		start += " --data-dir " + base.ShellQuote(dir)
	}
	return fmt.Errorf("no node runs on data directory %s; `%s` starts one", dir, start)
}
