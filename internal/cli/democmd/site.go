package democmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync/atomic"

	"github.com/fbo-node/fbo/examples/synthetic"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/strategy"
)

// site is a machine with its own data and a node, which is a process of serve. The demo is the
// client that evaluates the node's trials.
type site struct {
	name      string
	dir       string
	data      *synthetic.Data
	trainSeed uint64 // orders the samples of a training
	seed      uint64 // of the node's random decisions
	warn      func(string)

	command   *exec.Cmd
	stdin     io.Closer // the node ends with it
	drained   chan struct{}
	ending    atomic.Bool
	stderr    bytes.Buffer
	addresses []string
	client    *http.Client // of the control socket
	task      string       // its ID
	trial     trial        // the newest

	run runReport
}

// trial has the fields of a trial that the demo reads.
type trial struct {
	ID         uint64          `json:"id"`
	Parameters json.RawMessage `json:"parameters"`
	Why        strategy.Why    `json:"why"`
}

// start starts the node and waits until it listens. Its identity derives from a seed.
func (s *site) start(ctx context.Context, program string, identity random.Seed, peers []string) (err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("demo: %s: %w", s.name, err)
		}
	}()
	if err := datadir.Make(s.dir); err != nil {
		return err
	}
	if err := store.WriteIdentity(s.dir, identity); err != nil {
		return err
	}
	arguments := []string{"serve", "--json", "--until-eof", "--data-dir", s.dir, "--wait-for-peers", "0", "--mdns=false",
		"--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--listen", "/ip4/127.0.0.1/tcp/0"}
	for _, peer := range peers {
		arguments = append(arguments, "--peer", peer)
	}
	command := exec.Command(program, arguments...)
	command.Stderr = &s.stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if s.stdin, err = command.StdinPipe(); err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	s.command, s.drained = command, make(chan struct{})
	listening := make(chan []string, 1)
	go s.read(stdout, listening)
	select {
	case s.addresses = <-listening:
		s.client = control.Client(filepath.Join(s.dir, control.Socket))
		return nil
	case <-s.drained:
		return errors.New("its node ended at the start")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// read reads the events of the node until it ends.
func (s *site) read(stdout io.Reader, listening chan<- []string) {
	defer close(s.drained)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Event     string   `json:"event"`
			Addresses []string `json:"addresses"`
			Message   string   `json:"message"`
		}
		switch _ = json.Unmarshal(lines.Bytes(), &event); {
		case event.Event == "listening":
			listening <- event.Addresses
		case event.Event == "warning" && !s.ending.Load():
			s.warn(s.name + ": " + event.Message)
		}
	}
}

// end ends the node; wait returns when it has ended.
func (s *site) end() {
	s.ending.Store(true)
	s.stdin.Close()
}

func (s *site) wait() error {
	<-s.drained
	if err := s.command.Wait(); err != nil {
		return fmt.Errorf("demo: %s: %w: %s", s.name, err, bytes.TrimSpace(s.stderr.Bytes()))
	}
	return nil
}

// ask requests a route of the node. A body makes it a POST.
func (s *site) ask(ctx context.Context, path string, body, into any) error {
	method, data := http.MethodGet, []byte(nil)
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return err
		}
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://node/v1/tasks"+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("demo: %s: %w", s.name, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		err = errors.New(control.Refusal(answer))
	}
	if err == nil && into != nil {
		err = json.Unmarshal(answer, into)
	}
	if err != nil {
		return fmt.Errorf("demo: %s: %s: %w", s.name, path, err)
	}
	return nil
}

// join has the node join a task.
func (s *site) join(ctx context.Context, text string) error {
	var joined struct {
		ID string `json:"id"`
	}
	err := s.ask(ctx, "", map[string]any{"text": text, "seed": s.seed}, &joined)
	s.task = joined.ID
	return err
}

// choose waits until the node has chosen the next trial.
func (s *site) choose(ctx context.Context) error {
	for {
		var asked struct {
			Trials []trial `json:"trials"`
		}
		if err := s.ask(ctx, "/"+s.task+"/ask", map[string]any{"client": "demo"}, &asked); err != nil {
			return err
		}
		if len(asked.Trials) > 0 {
			s.trial = asked.Trials[0]
			return nil
		}
	}
}

// evaluate trains with the design of the trial and reports the loss.
func (s *site) evaluate(ctx context.Context) error {
	h, err := hyperparameters(s.trial.Parameters)
	if err != nil {
		return err
	}
	score, err := synthetic.Average(ctx, s.data, h, s.trainSeed, repeats)
	if err != nil {
		return fmt.Errorf("demo: %s: trial %d: %w", s.name, s.trial.ID, err)
	}
	s.run.add(s.trial, score.Loss)
	return s.ask(ctx, fmt.Sprintf("/%s/trials/%d/tell", s.task, s.trial.ID), map[string]any{"value": score.Loss}, nil)
}
