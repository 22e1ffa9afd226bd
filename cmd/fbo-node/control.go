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

	"github.com/fbo-node/fbo/node"
)

// A running node has its journal locked, so status and history ask the node
// itself, over a Unix socket in the data directory. Only the directory's owner
// can reach it. A hub has one too, which tells that it runs.

const (
	controlSocket = "control.sock"
	hubSocket     = "hub.sock"
)

// state is what the socket answers with.
type state struct {
	Task   json.RawMessage   `json:"task"` // canonical
	Status json.RawMessage   `json:"status"`
	Trials []json.RawMessage `json:"trials"`
}

// serveControl answers until the returned function is called. A socket that
// cannot be made costs status and history while the node runs, nothing else.
func serveControl(dir string, session *node.Session) (stop func(), err error) {
	return serveSocket(filepath.Join(dir, controlSocket), func(ctx context.Context) (any, error) { return takeState(ctx, session) })
}

// serveSocket answers every request with one JSON object.
func serveSocket(path string, answer func(context.Context) (any, error)) (stop func(), err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, err
	}
	handle := func(w http.ResponseWriter, r *http.Request) {
		object, err := answer(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = printJSON(w, object) // an error means that the asker has gone away
	}
	server := &http.Server{Handler: http.HandlerFunc(handle), ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(listener) // ends with ErrServerClosed
	return func() { server.Close() }, nil
}

func takeState(ctx context.Context, session *node.Session) (state, error) {
	s := state{Task: session.Task().Canonical(), Trials: []json.RawMessage{}}
	status, err := session.Status(ctx)
	if err != nil {
		return state{}, err
	}
	if s.Status, err = json.Marshal(status); err != nil {
		return state{}, err
	}
	trials, err := session.Trials(ctx)
	if err != nil {
		return state{}, err
	}
	for _, trial := range trials {
		encoded, err := json.Marshal(trial)
		if err != nil {
			return state{}, err
		}
		s.Trials = append(s.Trials, encoded)
	}
	return s, nil
}

// askRunning asks the node that runs on a data directory; ok is false when none
// answers.
func askRunning(ctx context.Context, dir string) (s state, ok bool, err error) {
	if ok, err = askSocket(ctx, filepath.Join(dir, controlSocket), &s); err != nil {
		return state{}, false, fmt.Errorf("the running node: %w", err)
	}
	return s, ok, nil
}

// askSocket reads the object that a socket answers with; ok is false when nobody
// listens.
func askSocket(ctx context.Context, path string, into any) (ok bool, err error) {
	client := &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "unix", path)
		}},
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://node/", nil)
	if err != nil {
		return false, err
	}
	response, err := client.Do(request)
	switch {
	case os.IsTimeout(err):
		return false, fmt.Errorf("it does not answer within %v", client.Timeout)
	case errors.Is(err, os.ErrPermission):
		return false, fmt.Errorf("it may be asked by its own user only: %w", err)
	case err != nil:
		return false, nil // nobody listens: no node runs
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		message, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return false, fmt.Errorf("it answers: %s", strings.TrimSpace(string(message)))
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return false, fmt.Errorf("its answer: %w", err)
	}
	return true, nil
}
