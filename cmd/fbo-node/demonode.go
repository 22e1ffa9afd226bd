package main

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

	"github.com/fbo-node/fbo/strategy"
)

// nodeEvent is what the demo reads of the events that run --json prints.
type nodeEvent struct {
	Event     string     `json:"event"`
	Addresses []string   `json:"addresses"`
	Trial     *nodeTrial `json:"trial"`
	Best      *nodeTrial `json:"best"`
	Improved  bool       `json:"improved"`
	Message   string     `json:"message"`
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
	PeerID         string     `json:"peer_id"`
	Evaluations    int        `json:"evaluations"`
	Best           *nodeTrial `json:"best"`
	PeerQueries    int        `json:"peer_queries"`
	PeerRecords    int        `json:"peer_records"`
	SharesSent     int        `json:"shares_sent"`
	SharesReceived int        `json:"shares_received"`
	BytesSent      int64      `json:"bytes_sent"`
}

// node runs one node as a process of its own to its end.
func (d *demo) node(ctx context.Context, i int, together bool, peer string, ready func(address string)) (nodeSummary, error) {
	kind := "alone"
	if together {
		kind = "together"
	}
	command := exec.CommandContext(ctx, d.program, d.arguments(i, filepath.Join(d.dir, fmt.Sprintf("%s-%d", kind, i)), peer)...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 5 * time.Second
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nodeSummary{}, err
	}
	if err := command.Start(); err != nil {
		return nodeSummary{}, fmt.Errorf("demo: start node %d: %w", i, err)
	}
	var summary nodeSummary
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event nodeEvent
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			continue
		}
		switch event.Event {
		case "node_started":
			ready(event.Addresses[0])
		case "trial_finished":
			d.screen.trial(i, event)
		case "warning":
			d.screen.warning(i, event.Message)
		case "summary":
			err = errors.Join(err, json.Unmarshal(lines.Bytes(), &summary))
		}
	}
	err = errors.Join(err, lines.Err())
	if ended := command.Wait(); ended != nil {
		if cause := context.Cause(ctx); cause != nil {
			return summary, cause
		}
		return summary, fmt.Errorf("demo: node %d: %w: %s", i, ended, bytes.TrimSpace(stderr.Bytes()))
	}
	if ctx.Err() != nil {
		return summary, context.Cause(ctx)
	}
	if err == nil && summary.Best == nil {
		err = fmt.Errorf("demo: node %d found nothing: no training worked", i)
	}
	return summary, err
}
