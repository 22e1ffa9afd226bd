package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
)

// runningJSON is what status --running finds: processes that answer.
type runningJSON struct {
	Running bool        `json:"running"`
	Node    *nodeAnswer `json:"node,omitempty"`
	Hub     *hubAnswer  `json:"hub,omitempty"`
}

type nodeAnswer struct {
	Task string `json:"task"`
	Name string `json:"name"`
}

// hubAnswer is also what a hub's socket answers with.
type hubAnswer struct {
	PeerID    string   `json:"peer_id"`
	Addresses []string `json:"addresses"`
}

// serveHub lets status --running find the hub until stop is called.
func serveHub(h *node.Hub) (stop func(), err error) {
	answer := hubAnswer{PeerID: h.ID().String(), Addresses: h.Addresses()}
	return serveSocket(filepath.Join(h.Dir, hubSocket), func(context.Context) (any, error) { return answer, nil })
}

// findRunning asks the node of a data directory and, when no task is wanted, its
// hub as well.
func findRunning(ctx context.Context, dir, wanted string) (r runningJSON, err error) {
	id, err := wantedID(ctx, dir, wanted)
	if err != nil {
		return runningJSON{}, err
	}
	s, ok, err := askRunning(ctx, dir)
	if err != nil {
		return runningJSON{}, err
	}
	if ok {
		t, err := all.Strategies().Parse("running node", s.Task)
		if err != nil {
			return runningJSON{}, err
		}
		if id != "" && id != t.ID().String() {
			return runningJSON{}, fmt.Errorf("the node that runs on data directory %s works on task %s (%s)", dir, t.ID(), t.Name)
		}
		r.Running, r.Node = true, &nodeAnswer{Task: t.ID().String(), Name: t.Name}
	}
	if id != "" {
		return r, nil
	}
	for _, place := range []string{dir, hubDir(dir)} {
		var hub hubAnswer
		if ok, err := askSocket(ctx, filepath.Join(place, hubSocket), &hub); err != nil {
			return runningJSON{}, fmt.Errorf("the running hub: %w", err)
		} else if ok {
			r.Running, r.Hub = true, &hub
		}
	}
	return r, nil
}

// showRunning fails when nothing runs, so that supervisors and scripts can ask.
func showRunning(ctx context.Context, out io.Writer, dir, wanted string, asJSON bool) error {
	r, err := findRunning(ctx, dir, wanted)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(out, r)
	} else {
		if r.Node != nil {
			fmt.Fprintf(out, "node      running, task %s, id %s\n", r.Node.Name, r.Node.Task)
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
