package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// progress shows a run: lines for people, or one JSON object per event.
type progress struct {
	mu        sync.Mutex
	out       io.Writer
	task      *task.Task
	json      bool
	disclosed *past.Disclosures // what this node has disclosed about the same data under other tasks; nil: nothing
	begun     bool              // what the node works on has been shown, which comes first
	early     []agent.Event     // happened before
	ended     int               // evaluations that ended in this run
	over      bool              // the summary has been shown, and nothing but the end follows

	warned warned
	paint  paint
	foot   *footer // nil where there is none
}

func newProgress(out io.Writer, t *task.Task, asJSON bool) *progress {
	return &progress{out: out, task: t, json: asJSON, paint: paintOf(out) && !paint(asJSON)}
}

// printLine prints a line for people, or an object for programs. A failing write is
// not worth stopping a run for.
func (p *progress) printLine(object any, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.print(object, format, args...)
	}
}

// printLast prints the summary like printLine. Afterwards printLine prints nothing, because
// peers and connections may still cause events while the node closes.
func (p *progress) printLast(object any, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.print(object, format, args...)
}

func (p *progress) print(object any, format string, args ...any) {
	if p.json {
		_ = base.PrintJSON(p.out, object)
	} else if format != "" {
		p.foot.clear()
		fmt.Fprintf(p.out, format+"\n", args...)
		if !p.over {
			p.foot.draw(time.Now())
		}
	}
}

// stand begins the line that says where a run stands, at a terminal.
func (p *progress) stand(ctx context.Context, session *node.Session, evals int) error {
	trials, err := session.Trials(ctx)
	if err != nil || p.json {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.foot = newFooter(p.out, p.task, trials, evals, "Ctrl-C stops")
	return nil
}

// leave takes that line away.
func (p *progress) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.foot.clear()
	p.foot = nil
}

// tick draws that line anew.
func (p *progress) tick(peers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.foot != nil && !p.over {
		p.foot.peers = peers
		p.foot.draw(time.Now())
	}
}

func (p *progress) warning(message string) {
	p.warned.add(message)
	p.printLine(base.Object{"event": "warning", "message": message}, "%s %s", p.paint.in(yellow, "warning:"), sanitize.Lines(message))
}

// page tells the link of the page. Whoever reads it can read what the node tells its user.
func (p *progress) page(link string) {
	p.printLine(base.Object{"event": "page_served", "url": link}, "page: %s", link)
}

// resume lets say print again after the summary.
func (p *progress) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = false
}

func text(lines []string) string { return strings.Join(lines, "\n") }

// hello returns what the node works on and how it is reached.
func (p *progress) hello(n *node.Node) []string {
	lines := []string{
		fmt.Sprintf("task %q: %s over %s, id %s", p.task.Name, p.task.Goal, sanitize.Count(p.task.Space.Len(), "parameter"), p.task.ID()),
		fmt.Sprintf("node %s, data in %s", n.ID(), n.Dir),
	}
	for _, address := range worthShowing(n.Addresses()) {
		lines = append(lines, "others reach it with --peer "+address)
	}
	return lines
}

// terms returns who can take part and what peers receive: in full at the first join of an open
// task, else in a line each.
func (p *progress) terms(ctx context.Context, n *node.Node, session *node.Session) []string {
	reveals := base.RegistrationOf(p.task).Reveals
	if status, err := session.Status(ctx); err == nil && status.Starts == 1 && isOpen(n, session) {
		lines := []string{p.whoMay()}
		if reveals != nil {
			lines = append(lines, reveals(p.task))
		}
		return lines
	}
	lines := []string{p.whoMayShort(n, session) + " (docs/network.md#who-may-take-part)"}
	if reveals != nil {
		lines = append(lines, "shares: `fbo-node task check` shows what peers can learn from them (docs/privacy.md)")
	}
	return lines
}

// whoMayShort returns whoMay in a few words.
func (p *progress) whoMayShort(n *node.Node, session *node.Session) string {
	by := ""
	if tagOf(session) != "" {
		by = " that have the invitation"
	}
	switch {
	case n.Allow != nil:
		return fmt.Sprintf("closed: only the %s on the list%s take part", sanitize.Count(len(n.Allow), "node"), by)
	case by != "":
		return "closed: only nodes" + by + " take part"
	case len(p.task.Roster()) > 0:
		return fmt.Sprintf("only the %s on the roster take part", sanitize.Count(len(p.task.Roster()), "node"))
	}
	return "open: all nodes that reach a port of one of its nodes can take part and read shares"
}

// whoMay returns in full who can take part in an open task and read its shares.
func (p *progress) whoMay() string {
	if parties := len(p.task.Roster()); parties > 0 {
		return fmt.Sprintf("Only the %s on the roster can take part; each host that reaches a port of one of them learns the task's ID and which nodes take part (--invite FILE closes the task to nodes without a secret, --allow FILE lists those that may connect).",
			sanitize.Count(parties, "node"))
	}
	return "The task is open: each host that reaches a port of one of its nodes learns its ID, can join, read all shares and publish its own (--invite FILE closes it to nodes without a secret, --allow FILE lists those that may connect)."
}

func isOpen(n *node.Node, session *node.Session) bool { return n.Allow == nil && tagOf(session) == "" }

// tagOf is what stands for the task on the network; empty without an invitation.
func tagOf(session *node.Session) string {
	if tag := session.Tag(); tag.Defined() {
		return tag.String()
	}
	return ""
}

func (p *progress) started(ctx context.Context, n *node.Node, session *node.Session) {
	lines := append(p.hello(n), p.terms(ctx, n, session)...)
	p.printLine(base.Object{
		"event": "node_started", "task": p.task.ID().String(), "name": p.task.Name,
		"peer_id": n.ID().String(), "addresses": n.Addresses(), "data_dir": n.Dir, "open": isOpen(n, session), "tag": tagOf(session),
	}, "%s", text(lines))
	if p.disclosed != nil {
		for _, line := range p.disclosed.Lines() {
			p.warning(line)
		}
	}
	p.begin()
}

func (p *progress) metrics(url string) {
	p.printLine(base.Object{"event": "metrics_served", "url": url}, "metrics at %s", url)
}

// worthShowing leaves out what is of no use to a person: loopback, when there is
// more than that, and TCP where QUIC does the same.
func worthShowing(addresses []string) []string {
	for _, unwanted := range []string{"/ip4/127.", "/ip6/::1/", "/tcp/"} {
		fewer := slices.DeleteFunc(slices.Clone(addresses), func(a string) bool { return strings.Contains(a, unwanted) })
		if len(fewer) > 0 {
			addresses = fewer
		}
	}
	return addresses
}

func (p *progress) imported(past imported, added int) {
	known := len(past.trials) - added
	p.printLine(base.Object{"event": "imported", "file": past.file, "added": added, "known": known, "outside": past.outside, "unfinished": past.unfinished},
		"%s imported from %s, %d known already%s", sanitize.Count(added, "past trial"), past.file, known, past.leftOut())
}

// event shows what the agent reports, once its start has been shown.
func (p *progress) event(e agent.Event) {
	p.mu.Lock()
	if !p.begun {
		p.early = append(p.early, e)
		p.mu.Unlock()
		return
	}
	p.foot.take(e)
	p.mu.Unlock()
	p.show(e)
}

// begin shows what has happened before the start was shown.
func (p *progress) begin() {
	p.mu.Lock()
	early := p.early
	p.begun, p.early = true, nil
	p.mu.Unlock()
	for _, e := range early {
		p.show(e)
	}
}

func (p *progress) show(e agent.Event) {
	if e.Kind == presence.Kind {
		return // many and of no interest; the peers line tells
	}
	switch {
	case e.Type == agent.WaitEnded:
		p.waited(e)
	case e.Type == agent.TrialFinished:
		p.mu.Lock()
		p.ended++
		p.mu.Unlock()
		p.printLine(e, "%s", p.trialLine(e))
	default:
		p.printLine(e, "")
	}
}

// shortWait is the longest wait that is not worth a line.
const shortWait = 0.5 // seconds

func (p *progress) waited(e agent.Event) {
	switch {
	case e.Authors > 0:
		p.printLine(e, "received shares from %s within %.1f s; the first design can use them", sanitize.Count(e.Authors, "node"), e.Seconds)
	case e.Seconds > shortWait:
		p.printLine(e, "received no shares within %.1f s", e.Seconds)
	default:
		p.printLine(e, "")
	}
}

func (p *progress) trialLine(e agent.Event) string {
	t := e.Trial
	if t.State == strategy.Failed {
		return fmt.Sprintf("%4d  %s %s", t.ID, p.paint.in(red, "failed:"), render.Reason(*t))
	}
	best := "nothing feasible"
	switch {
	case e.Better:
		best = "new best"
	case e.Best != nil:
		best = "best " + render.Number(e.Best.Outcome.Value)
	}
	notes := ""
	if violations := render.Violations(p.task, t.Outcome); violations != "" {
		notes = "  infeasible: " + violations
	}
	if metrics := render.Metrics(t.Outcome, shownMetrics); metrics != "" {
		notes += "  (" + metrics + ")"
	}
	best = fmt.Sprintf("%-17s", best)
	if e.Better {
		best = p.paint.in(green, best)
	}
	return fmt.Sprintf("%4d  %-12s %s %s%s  [%s]", t.ID, render.Number(t.Outcome.Value), best, t.Design, notes, t.Why)
}

// shownMetrics is how many metrics the line of a trial shows.
const shownMetrics = 3

// patience is how long a run may be without peers before it says so.
const patience = 5 * time.Second

// maxNotice bounds the notice of a status item, in characters.
const maxNotice = 500

// watch prints the number of connected peers and the notices of status items, each time that they
// change.
func (p *progress) watch(ctx context.Context, session *node.Session, expected bool) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	connected, alone, warned := 0, time.Now(), false
	notices := map[string]string{} // by key of the item
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
		for _, item := range status.Items {
			if item.Notice != "" && item.Notice != notices[item.Key] {
				notices[item.Key] = item.Notice
				p.printLine(base.Object{"event": "status", "item": item}, "%s", sanitize.Text(item.Notice, maxNotice))
			}
		}
		now := len(status.TopicPeers)
		p.tick(now)
		if now != connected {
			p.printLine(base.Object{"event": "peers", "topic_peers": now, "present": len(status.Present)}, "peers: %d connected on this task", now)
			connected, alone, warned = now, time.Now(), false
		}
		if now == 0 && expected && !warned && time.Since(alone) > patience {
			p.warning(lonely(status.Keeping))
			warned = true
		}
	}
}

// lonely says what it means to have no peers.
func lonely(keeping bool) string {
	if keeping {
		return "no peers on this task; this node sends its stored shares when one joins"
	}
	return "no peers on this task; this node tunes alone until one joins"
}

// whyEnded explains a run that ended by itself.
func (p *progress) whyEnded(ctx context.Context, session *node.Session, o runOptions) error {
	stopped, err := session.Stopped(ctx)
	switch {
	case err != nil:
		return err
	case stopped != nil && o.stopGiven && stopped.RegretBound <= o.stopRegret:
		p.printLine(base.Object{"event": "stop_regret_reached", "regret_bound": stopped.RegretBound, "stop_regret": stopped.StopRegret, "observations": stopped.Observations}, "%s", render.Stopped(*stopped))
	case o.evalsGiven:
		p.budgetSpent(o.evals)
	}
	return nil
}

// budgetSpent explains a run that had nothing to do.
func (p *progress) budgetSpent(evals int) {
	p.mu.Lock()
	idle := p.ended == 0
	p.mu.Unlock()
	switch {
	case evals == 0: // by --evals 0
		p.printLine(base.Object{"event": "budget_spent", "evals": 0}, "--evals 0: nothing is evaluated")
	case idle:
		p.printLine(base.Object{"event": "budget_spent", "evals": evals},
			"earlier runs made all %d evaluations that --evals asks for; nothing was left to do", evals)
	}
}

func (p *progress) interrupted() {
	p.printLast(base.Object{"event": "interrupted"}, "stopped; the same command continues from here")
}
