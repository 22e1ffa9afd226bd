package democmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/strategy"
)

// nodeEvent holds the fields that the demo reads of the events of run --json and keep --json.
type nodeEvent struct {
	Event     string     `json:"event"`
	Addresses []string   `json:"addresses"`
	Trial     *nodeTrial `json:"trial"`
	Best      *nodeTrial `json:"best"`
	Message   string     `json:"message"`
	URL       string     `json:"url"`
}

type nodeTrial struct {
	ID         uint64            `json:"id"`
	Parameters json.RawMessage   `json:"parameters"`
	Why        strategy.Why      `json:"why"`
	Outcome    *strategy.Outcome `json:"outcome"`
	Reason     string            `json:"reason"`
}

// nodeSummary is the last event of a node.
type nodeSummary struct {
	PeerID             string     `json:"peer_id"`
	Evaluations        int        `json:"evaluations"`
	Best               *nodeTrial `json:"best"`
	PeerInformedTrials int        `json:"peer_informed_trials"`
	SharesSent         int        `json:"shares_sent"`
	SharesReceived     int        `json:"shares_received"`
	BytesSent          int64      `json:"bytes_sent"`

	curve []float64 // best loss after each evaluation with an outcome
}

// node runs one node in a process of its own until it ends. It calls made with the number of
// evaluations that have an outcome.
func (d *federation) node(ctx context.Context, i int, keeper string, made func(evaluations int)) (nodeSummary, error) {
	var summary nodeSummary
	var curve []float64
	together := keeper != ""
	summarised := make(chan struct{})
	received := func(event nodeEvent, line []byte) error {
		switch event.Event {
		case "page_served":
			d.screen.page(i, event.URL)
			if i == 0 && d.screen.live {
				base.OpenBrowser(event.URL)
			}
		case "trial_finished":
			if event.Trial.Outcome != nil && event.Best != nil {
				curve = append(curve, event.Best.Outcome.Value)
				made(len(curve))
			}
			d.screen.trial(i, together, len(curve), event)
		case "warning":
			d.screen.warning(i, event.Message)
		case "summary":
			defer close(summarised)
			return json.Unmarshal(line, &summary)
		}
		return nil
	}
	name, arguments := fmt.Sprintf("node %d", i), d.arguments(i, keeper)
	var err error
	if together && d.hasPage(i) {
		err = d.stays(ctx, name, arguments, received, summarised)
	} else {
		err = d.process(ctx, name, arguments, received)
	}
	if err != nil {
		return nodeSummary{}, err // the process may still be ending
	}
	if summary.Best == nil {
		return nodeSummary{}, fmt.Errorf("demo: node %d found nothing: no training worked", i)
	}
	summary.curve = curve
	return summary, nil
}

// hasPage reports whether a node that has peers has a page: the first, and the last, which receives
// most shares.
func (d *federation) hasPage(i int) bool { return d.web && (i == 0 || i == d.nodes-1) }

// stays runs a node that continues after its evaluations, until the pages end. It returns when the
// node has made its evaluations.
func (d *federation) stays(ctx context.Context, name string, arguments []string, received func(event nodeEvent, line []byte) error, summarised <-chan struct{}) error {
	ended := make(chan error, 1)
	d.staying.Go(func() { ended <- d.process(d.pages, name, arguments, received) })
	select {
	case <-summarised:
		return nil
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// keeper runs a keeper, which is a configured peer of the nodes. Through it they find each other,
// and later nodes get the shares of nodes that have ended. end ends it.
func (d *federation) keeper(ctx context.Context) (address string, end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	began, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		arguments := append([]string{"keep", d.taskFile(true), "--data-dir", filepath.Join(d.dir, "keeper")}, local()...)
		ended <- d.process(ctx, "keeper", arguments, func(event nodeEvent, _ []byte) error {
			if event.Event == "keeper_started" {
				began <- event.Addresses[0]
			}
			return nil
		})
	}()
	select {
	case address = <-began:
		return address, func() { cancel(); <-ended }, nil
	case err = <-ended:
		cancel()
		return "", nil, err
	}
}

// process runs this program until it ends, and passes on the events that it prints.
func (d *federation) process(ctx context.Context, name string, arguments []string, received func(event nodeEvent, line []byte) error) error {
	command := exec.CommandContext(ctx, d.program, arguments...)
	command.Cancel = func() error {
		if err := command.Process.Signal(os.Interrupt); err != nil {
			return command.Process.Kill() // Windows has no interrupt
		}
		return nil
	}
	command.WaitDelay = 5 * time.Second
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("demo: start %s: %w", name, err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event nodeEvent
		if json.Unmarshal(lines.Bytes(), &event) == nil {
			err = errors.Join(err, received(event, lines.Bytes()))
		}
	}
	err = errors.Join(err, lines.Err())
	ended := command.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if ended != nil {
		return fmt.Errorf("demo: %s: %w: %s", name, ended, bytes.TrimSpace(stderr.Bytes()))
	}
	return err
}
