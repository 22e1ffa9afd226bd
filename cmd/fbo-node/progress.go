package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fbo-node/fbo/agent"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/presence"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// progress shows a run: lines for people, or one JSON object per event.
type progress struct {
	mu   sync.Mutex
	out  io.Writer
	task *task.Task
	json bool
}

func newProgress(out io.Writer, t *task.Task, asJSON bool) *progress {
	return &progress{out: out, task: t, json: asJSON}
}

// say prints a line for people, or an object for programs. A failing write is
// not worth stopping a run for.
func (p *progress) say(object any, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.json {
		_ = printJSON(p.out, object)
	} else if format != "" {
		fmt.Fprintf(p.out, format+"\n", args...)
	}
}

type object = map[string]any

func (p *progress) warning(message string) {
	p.say(object{"event": "warning", "message": message}, "warning: %s", message)
}

func (p *progress) started(n *node.Node, dir string) {
	addresses := n.Addresses()
	lines := []string{
		fmt.Sprintf("task %q: %s over %d parameters, id %s", p.task.Name, p.task.Goal, p.task.Space.Len(), p.task.ID()),
		fmt.Sprintf("node %s, data in %s", n.ID(), dir),
	}
	for _, address := range addresses {
		lines = append(lines, "others reach it with --peer "+address)
	}
	if p.task.Strategy.Type == "fts" {
		lines = append(lines, "Peers get samples of what this node's model believes, never its results; without added noise that is not yet privacy.")
	}
	p.say(object{
		"event": "node_started", "task": p.task.ID().String(), "name": p.task.Name,
		"peer_id": n.ID().String(), "addresses": addresses, "data_dir": dir,
	}, "%s", strings.Join(lines, "\n"))
}

func (p *progress) imported(file string, added, known int) {
	p.say(object{"event": "imported", "file": file, "added": added, "known": known},
		"%d past trials imported from %s, %d known already", added, file, known)
}

// event shows what the agent reports.
func (p *progress) event(e agent.Event) {
	if e.Kind == presence.Name {
		return // many and of no interest; the peers line tells
	}
	switch {
	case e.Type == agent.Warning:
		p.warning(e.Message)
	case e.Type == agent.TrialFinished && e.Trial.Why.Source != strategy.Imported:
		p.say(e, "%s", p.trialLine(e))
	default:
		p.say(e, "")
	}
}

func (p *progress) trialLine(e agent.Event) string {
	t := e.Trial
	if t.State == strategy.Failed {
		return fmt.Sprintf("%4d  failed: %s", t.ID, t.Reason)
	}
	best := "best " + number(e.Best.Outcome.Value)
	if e.Better {
		best = "new best"
	}
	return fmt.Sprintf("%4d  %-12s %-17s %s  [%s]", t.ID, number(t.Outcome.Value), best, t.Design, t.Why)
}

// patience is how long a run may be without peers before it says so.
const patience = 5 * time.Second

// watchPeers reports how many peers are connected, whenever that changes.
func (p *progress) watchPeers(ctx context.Context, session *node.Session, expected bool) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	connected, alone, warned := 0, time.Now(), false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		status, err := session.Status(ctx)
		if err != nil {
			return
		}
		now := len(status.MeshPeers)
		if now != connected {
			p.say(object{"event": "peers", "mesh_peers": now, "present": len(status.Present)}, "peers: %d connected on this task", now)
			connected, alone, warned = now, time.Now(), false
		}
		if now == 0 && expected && !warned && time.Since(alone) > patience {
			p.warning("no peers on this task; this node tunes alone until one joins")
			warned = true
		}
	}
}

func (p *progress) interrupted() {
	p.say(object{"event": "interrupted"}, "stopped; the same command continues from here")
}
