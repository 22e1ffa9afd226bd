// Package control asks the node that runs on a data directory, over its control socket.
//
// The journal of a running node is locked, so commands about its history ask the node itself, by
// the HTTP interface (docs/http.md) over a Unix socket in the data directory. Only the directory's
// owner can connect to it. A hub has a socket too, whose answer shows that it runs.
package control

import (
	"bytes"
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

	"github.com/fbo-node/fbo/internal/httpaccess"
	"github.com/fbo-node/fbo/internal/taskref"
)

// Names of the sockets in a data directory.
const (
	Socket    = "control.sock"
	HubSocket = "hub.sock"
)

// TaskState is the answer of a running node about one of its tasks.
type TaskState struct {
	Task   json.RawMessage   // canonical
	Status json.RawMessage   // of node.Status
	Trials []json.RawMessage // as history --json shows them
}

// NodeState is the answer of a running node about itself.
type NodeState struct {
	PeerID    peer.ID  `json:"peer_id"`
	Addresses []string `json:"addresses"`
	Tasks     []taskref.Ref
}

// Node asks the node that runs on a directory; nil when none answers.
func Node(ctx context.Context, dir string) (*NodeState, error) {
	var n NodeState
	tasks, ok, err := Tasks(ctx, dir)
	if err == nil && ok {
		ok, err = Ask(ctx, dir, "/v1/node", &struct {
			*NodeState
			Tasks int `json:"tasks"` // which are known better
		}{NodeState: &n})
	}
	if err != nil || !ok {
		return nil, err
	}
	n.Tasks = tasks
	return &n, nil
}

// Tasks lists the tasks of the node that runs on a data directory; ok is false when
// none answers.
func Tasks(ctx context.Context, dir string) (tasks []taskref.Ref, ok bool, err error) {
	var answer struct {
		Tasks *[]taskref.Ref `json:"tasks"`
	}
	if ok, err = Ask(ctx, dir, "/v1/tasks", &answer); err != nil || !ok {
		return nil, false, err
	}
	if answer.Tasks == nil {
		return nil, false, errors.New("the running node: its answer has no tasks; expected a node of this version")
	}
	return *answer.Tasks, true, nil
}

// pageOfTrials is the number of trials that one request returns.
const pageOfTrials = 1000

// Task asks a running node about one of its tasks; ok is false when no node answers.
func Task(ctx context.Context, dir, id string) (s TaskState, ok bool, err error) {
	var shown struct {
		Task json.RawMessage `json:"task"`
	}
	path := "/v1/tasks/" + id
	if ok, err := Ask(ctx, dir, path, &shown); err != nil || !ok {
		return TaskState{}, false, err
	}
	s.Task = shown.Task
	if ok, err := Ask(ctx, dir, path+"/status", &s.Status); err != nil || !ok {
		return TaskState{}, false, err
	}
	for after := uint64(0); ; {
		var page struct {
			Trials []json.RawMessage `json:"trials"`
			Next   uint64            `json:"next"`
		}
		if ok, err := Ask(ctx, dir, fmt.Sprintf("%s/trials?limit=%d&after=%d", path, pageOfTrials, after), &page); err != nil || !ok {
			return TaskState{}, false, err
		}
		s.Trials = append(s.Trials, page.Trials...)
		if after = page.Next; after == 0 {
			return s, true, nil
		}
	}
}

// Ask reads the object of a node's answer; ok is false if no node answers.
func Ask(ctx context.Context, dir, path string, into any) (ok bool, err error) {
	if ok, err = AskSocket(ctx, filepath.Join(dir, Socket), path, into); err != nil {
		return false, fmt.Errorf("the running node: %w", err)
	}
	return ok, nil
}

// answerPatience is the maximum time for a running node's answer. Evaluations may occupy all
// processors of its machine.
const answerPatience = 30 * time.Second

// Within limits the time to wait for a running node. The cause of the end has the limit.
func Within(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patience, fmt.Errorf("it does not answer within %v", patience))
}

// AskSocket reads the object of a socket's answer; ok is false if no program listens.
func AskSocket(ctx context.Context, socket, path string, into any) (ok bool, err error) {
	return send(ctx, socket, Request{Method: http.MethodGet, Path: path}, into)
}

// Request is a request of the HTTP interface.
type Request struct {
	Method string
	Path   string
	Key    string // Idempotency-Key; empty: none
	Body   any    // in JSON; nil: none
}

// Post sends an object to a running node and reads the object of its answer, as Do does.
func Post(ctx context.Context, dir, path string, body, into any) (ok bool, err error) {
	return Do(ctx, dir, Request{Method: http.MethodPost, Path: path, Body: body}, into)
}

// Do sends a request to a running node and reads the object of its answer, unless into is nil; ok is
// false if no node listens, and then nothing was sent. The error of a node that refuses is a
// RefusedError.
func Do(ctx context.Context, dir string, r Request, into any) (ok bool, err error) {
	if ok, err = send(ctx, filepath.Join(dir, Socket), r, into); err != nil {
		return false, fmt.Errorf("the running node: %w", err)
	}
	return ok, nil
}

// RefusedError is the answer of a node that does not carry out a request.
type RefusedError struct {
	Status int
	Reason string
}

func (e *RefusedError) Error() string { return "it answers: " + e.Reason }

// send sends a request and reads the object of the answer, unless into is nil; ok is false if no
// program listens.
func send(ctx context.Context, socket string, r Request, into any) (ok bool, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = json.Marshal(r.Body); err != nil {
			return false, err
		}
	}
	ctx, cancel := Within(ctx, answerPatience)
	defer cancel()
	client := Client(socket)
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, r.Method, "http://node"+r.Path, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.Key != "" {
		request.Header.Set("Idempotency-Key", r.Key)
	}
	response, err := client.Do(request)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return false, context.Cause(ctx)
	case errors.Is(err, os.ErrPermission):
		return false, fmt.Errorf("it may be asked by its own user only: %w", err)
	case err != nil && (r.Method == http.MethodGet || notConnected(err)):
		return false, nil // no listener: no node runs
	case err != nil:
		return false, fmt.Errorf("the connection ended before its answer: %w", err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
	default:
		message, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
		return false, &RefusedError{response.StatusCode, Refusal(message)}
	}
	if into == nil {
		return true, nil
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return false, fmt.Errorf("its answer: %w", err)
	}
	return true, nil
}

// notConnected reports whether a request failed before anything was sent.
func notConnected(err error) bool {
	operation, ok := errors.AsType[*net.OpError](err)
	return ok && operation.Op == "dial"
}

// Client returns a client of the HTTP interface on a socket.
func Client(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "unix", socket)
	}}}
}

// Refusal returns the text of a problem in a node's answer.
func Refusal(body []byte) string {
	var problem httpaccess.Problem
	if err := json.Unmarshal(body, &problem); err == nil && problem.Detail != "" {
		return problem.Detail
	}
	return strings.TrimSpace(string(body))
}
