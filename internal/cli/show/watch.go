package show

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/progress"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// NewWatch returns the command watch.
func NewWatch() *cobra.Command {
	var dir string
	var asJSON bool
	command := &cobra.Command{
		Use:   "watch [TASK]",
		Short: "Show what happens at a node that runs, as it happens",
		Long: `Show what happens at a node that runs, run or serve, as it happens: the lines that run
prints, from now on, after the last values by step of the running trials. TASK is a task file, an ID, its first
characters or a name; a node that works on one task needs
none. It ends when the node does, or with Ctrl-C, which the node does not notice.`,
		Args: base.AtMost(1),
		RunE: func(command *cobra.Command, args []string) error {
			dataDir, err := base.ResolveDataDir(dir)
			if err != nil {
				return err
			}
			ctx := command.Context()
			id, err := watchedTask(ctx, dataDir, base.Argument(args))
			if err != nil {
				return err
			}
			err = watch(ctx, command.OutOrStdout(), dataDir, id, asJSON)
			if ctx.Err() != nil {
				return nil
			}
			return err
		},
	}
	base.AddDataDir(command, &dir)
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per event, as run --json does")
	return command
}

// watchedTask returns the ID of a task of the node that runs on a data directory.
func watchedTask(ctx context.Context, dir, wanted string) (string, error) {
	served, ok, err := control.Tasks(ctx, dir)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", past.OrMissingFile(wanted, errors.New("no node runs on data directory "+dir+", so that nothing happens there; history shows what has"))
	}
	found, err := past.Served(dir, served, wanted)
	return found.ID, err
}

// watch prints events until the node, its part in the task or the context ends.
func watch(ctx context.Context, out io.Writer, dir, id string, asJSON bool) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://node/v1/tasks/"+id+"/events", nil)
	if err != nil {
		return err
	}
	client := control.Client(filepath.Join(dir, control.Socket))
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("the running node: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		message, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return fmt.Errorf("the running node: it answers: %s", control.Refusal(message))
	}
	// Requested after the stream is open, so that no event is missed in between.
	s, ok, err := control.Task(ctx, dir, id)
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("the node has ended")
	}
	p, err := past.OfRunning(s)
	if err != nil {
		return err
	}
	show := progress.New(out, p.Task, asJSON)
	show.PrintLine(base.Object{"event": "watching", "task": id, "name": p.Task.Name, "trials": len(p.Trials)}, "%s", watching(p))
	show.Begin()
	if !asJSON {
		for _, line := range runningSteps(p.Trials) {
			show.PrintLine(nil, "%s", line)
		}
		show.Stand(p.Trials, p.Running.Progress, "Ctrl-C ends watching")
		stop := countPeers(ctx, show, dir, id)
		defer show.Leave()
		defer stop()
	}
	lines := bufio.NewReader(response.Body)
	for {
		data, err := nextEvent(lines)
		if err != nil {
			if ctx.Err() == nil {
				show.PrintLast(base.Object{"event": "watch_ended"}, "the node has ended, or has left the task")
			}
			return nil
		}
		if string(data) == "{}" {
			show.Warning("some events before the next were missed; history has all trials")
			continue
		}
		e, err := decodeEvent(data, p.Task)
		if err != nil {
			return fmt.Errorf("the running node's event: %w", err)
		}
		if e.Type == agent.Warning {
			show.Warning(e.Message)
		} else {
			show.Event(e)
		}
	}
}

// watching prints the state of the task.
func watching(p past.History) string {
	ended := 0
	for _, trial := range p.Trials {
		if trial.State != strategy.Running {
			ended++
		}
	}
	text := fmt.Sprintf("watching task %q, id %s: %s so far", p.Task.Name, p.Task.ID(), sanitize.Count(ended, "trial"))
	if of := p.Running.Progress; of.MaxEvals > 0 || of.Cost != nil {
		text += ", " + render.Progress(of)
	}
	if left := render.TimeLeft(p.Running.Progress); left != "" {
		text += ", " + left
	}
	if front := render.FrontOf(p.Task, p.Trials); len(front) > 0 {
		text += ", Pareto front of " + sanitize.Count(len(front), "design")
	} else if p.Best != nil {
		text += ", best " + render.Number(p.Best.Outcome.Value)
	}
	return text
}

// nextEvent reads the data of the next server-sent event; the event that reports missed events has
// an empty object.
func nextEvent(lines *bufio.Reader) ([]byte, error) {
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			return bytes.TrimSpace(data), nil
		}
	}
}

// decodeEvent reads an event, whose designs need their space.
func decodeEvent(data []byte, t *task.Task) (e agent.Event, err error) {
	wire := struct {
		*agent.Event
		Trial          json.RawMessage `json:"trial"`
		Best           json.RawMessage `json:"best"`
		LeastViolation json.RawMessage `json:"least_violation"`
	}{Event: &e}
	if err := json.Unmarshal(data, &wire); err != nil {
		return e, err
	}
	for _, part := range []struct {
		encoded json.RawMessage
		into    **strategy.Trial
	}{{wire.Trial, &e.Trial}, {wire.Best, &e.Best}, {wire.LeastViolation, &e.LeastViolation}} {
		if part.encoded == nil {
			continue
		}
		trial, err := past.DecodeTrial(part.encoded, t.Space)
		if err != nil {
			return e, err
		}
		*part.into = &trial
	}
	return e, nil
}

// betweenCounts is the interval at which watch reads the node's peers and progress.
const betweenCounts = 5 * time.Second

// countPeers updates the status line of the run until stop is called.
func countPeers(ctx context.Context, p *progress.Printer, dir, id string) (stop func()) {
	if !p.Stands() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(betweenCounts)
		defer tick.Stop()
		for {
			var status struct {
				Peers    []json.RawMessage `json:"peers"`
				Progress agent.Progress    `json:"progress"`
			}
			if ok, err := control.Ask(ctx, dir, "/v1/tasks/"+id+"/status", &status); err == nil && ok {
				p.Tick(len(status.Peers), status.Progress)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() { cancel(); <-ended }
}
