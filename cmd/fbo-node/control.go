package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/httpaccess"
	"github.com/fbo-node/fbo/internal/httpapi"
	"github.com/fbo-node/fbo/internal/taskref"
	"github.com/fbo-node/fbo/internal/trialserver"
)

// A running node has its journal locked, so status and history ask the node itself, by
// the HTTP interface (docs/http.md) over a Unix socket in the data directory. Only the
// directory's owner can reach it. A hub has a socket too, which tells that it runs.

const (
	controlSocket = "control.sock"
	hubSocket     = "hub.sock"
)

// serveControl lets others ask about the task of a session, and for its trials, until stop
// is called. A socket that cannot be made costs that while the node runs, nothing else.
func serveControl(dir string, api http.Handler) (stop func(), err error) {
	return serveSocket(filepath.Join(dir, controlSocket), limits(defaultRateLimit).Protect(api))
}

// apiOf is the HTTP interface of a desk; untilUnused is that of serve.
func apiOf(d *trialserver.Server, lease time.Duration, untilUnused bool, show *progress) http.Handler {
	return httpapi.New(d, httpapi.Options{
		Version: base.Version(), Lease: lease, UntilUnused: untilUnused, Printed: printed(d.Node().Dir), Warnings: show.warned.list,
	})
}

// serveSocket answers requests until stop is called.
func serveSocket(path string, handler http.Handler) (stop func(), err error) {
	listener, err := httpaccess.ListenSocket(path)
	if err != nil {
		return nil, err
	}
	server := httpaccess.NewServer(handler, quietLog())
	go server.Serve(listener) // ends with ErrServerClosed
	return func() { server.Close() }, nil
}

// state is what a running node says of one of its tasks.
type state struct {
	Task   json.RawMessage   // canonical
	Status json.RawMessage   // of node.Status
	Trials []json.RawMessage // as history --json shows them
}

// nodeState is what a running node says about itself.
type nodeState struct {
	PeerID    peer.ID  `json:"peer_id"`
	Addresses []string `json:"addresses"`
	Tasks     []taskref.Ref
}

// runningNode asks the node that runs on a directory; nil when none answers.
func runningNode(ctx context.Context, dir string) (*nodeState, error) {
	var n nodeState
	tasks, ok, err := servedTasks(ctx, dir)
	if err == nil && ok {
		ok, err = askNode(ctx, dir, "/v1/node", &struct {
			*nodeState
			Tasks int `json:"tasks"` // which are known better
		}{nodeState: &n})
	}
	if err != nil || !ok {
		return nil, err
	}
	n.Tasks = tasks
	return &n, nil
}

// servedTasks lists the tasks of the node that runs on a data directory; ok is false when
// none answers.
func servedTasks(ctx context.Context, dir string) (tasks []taskref.Ref, ok bool, err error) {
	var answer struct {
		Tasks *[]taskref.Ref `json:"tasks"`
	}
	if ok, err = askNode(ctx, dir, "/v1/tasks", &answer); err != nil || !ok {
		return nil, false, err
	}
	if answer.Tasks == nil {
		return nil, false, errors.New("the running node: its answer has no tasks; expected a node of this version")
	}
	return *answer.Tasks, true, nil
}

// pageOfTrials is how many trials are asked for at once.
const pageOfTrials = 1000

// askTask asks a running node about one of its tasks; ok is false when no node answers.
func askTask(ctx context.Context, dir, id string) (s state, ok bool, err error) {
	var shown struct {
		Task json.RawMessage `json:"task"`
	}
	path := "/v1/tasks/" + id
	if ok, err := askNode(ctx, dir, path, &shown); err != nil || !ok {
		return state{}, false, err
	}
	s.Task = shown.Task
	if ok, err := askNode(ctx, dir, path+"/status", &s.Status); err != nil || !ok {
		return state{}, false, err
	}
	for after := uint64(0); ; {
		var page struct {
			Trials []json.RawMessage `json:"trials"`
			Next   uint64            `json:"next"`
		}
		if ok, err := askNode(ctx, dir, fmt.Sprintf("%s/trials?limit=%d&after=%d", path, pageOfTrials, after), &page); err != nil || !ok {
			return state{}, false, err
		}
		s.Trials = append(s.Trials, page.Trials...)
		if after = page.Next; after == 0 {
			return s, true, nil
		}
	}
}

func askNode(ctx context.Context, dir, path string, into any) (ok bool, err error) {
	if ok, err = askSocket(ctx, filepath.Join(dir, controlSocket), path, into); err != nil {
		return false, fmt.Errorf("the running node: %w", err)
	}
	return ok, nil
}

// answerPatience is how long a running node has for an answer. Evaluations may have taken
// all processors of its machine.
const answerPatience = 30 * time.Second

// silent ends the waiting for a running node, and says how long it was waited for.
func silent(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patience, fmt.Errorf("it does not answer within %v", patience))
}

// askSocket reads the object that a socket answers with; ok is false when nobody
// listens.
func askSocket(ctx context.Context, socket, path string, into any) (ok bool, err error) {
	ctx, cancel := silent(ctx, answerPatience)
	defer cancel()
	client := clientOf(socket)
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://node"+path, nil)
	if err != nil {
		return false, err
	}
	response, err := client.Do(request)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return false, context.Cause(ctx)
	case errors.Is(err, os.ErrPermission):
		return false, fmt.Errorf("it may be asked by its own user only: %w", err)
	case err != nil:
		return false, nil // nobody listens: no node runs
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		message, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return false, fmt.Errorf("it answers: %s", refusalText(message))
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return false, fmt.Errorf("its answer: %w", err)
	}
	return true, nil
}

// clientOf asks over a socket.
func clientOf(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "unix", socket)
	}}}
}

// refusalText is the text of a problem.
func refusalText(body []byte) string {
	var problem httpaccess.Problem
	if err := json.Unmarshal(body, &problem); err == nil && problem.Detail != "" {
		return problem.Detail
	}
	return strings.TrimSpace(string(body))
}
