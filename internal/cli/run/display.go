package run

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/progress"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/cli/trialfile"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/task"
)

// display prints the progress of a node, and the lines before and after it.
type display struct {
	*progress.Printer
	disclosed *past.Disclosures // this node's disclosures of the same data under other tasks; nil: none
}

func newDisplay(out io.Writer, t *task.Task, asJSON bool) *display {
	return &display{Printer: progress.New(out, t, asJSON)}
}

// standing starts the status line of a run.
func (p *display) standing(ctx context.Context, session *node.Session, o options) error {
	trials, err := session.Trials(ctx)
	if err != nil {
		return err
	}
	p.Stand(trials, agent.Budget{Evals: o.evals, Cost: o.cost}.Progress(trials, time.Now()), "Ctrl-C stops")
	return nil
}

// page prints the link of the page, with which anyone can read the data that the node shows its
// user.
func (p *display) page(link string) {
	p.PrintLine(base.Object{"event": "page_served", "url": link}, "page: %s", link)
}

// hello returns the node's tasks and addresses.
func (p *display) hello(n *node.Node) []string {
	lines := []string{
		fmt.Sprintf("task %q: %s over %s, id %s", p.Task.Name, render.Goal(p.Task), sanitize.Count(p.Task.Space.Len(), "parameter"), p.Task.ID()),
		fmt.Sprintf("node %s, data in %s", n.ID(), n.Dir),
	}
	for _, address := range worthShowing(n.Addresses()) {
		lines = append(lines, "others reach it with --peer "+address)
	}
	return lines
}

// terms describes the nodes that can take part and the data that peers receive: in full at the
// first join of an open task, else in a line each.
func (p *display) terms(ctx context.Context, n *node.Node, session *node.Session) []string {
	reveals := base.RegistrationOf(p.Task).Disclosure(p.Task).Reveals
	if status, err := session.Status(ctx); err == nil && status.Starts == 1 && isOpen(n, session) {
		lines := []string{p.whoMay()}
		if reveals != nil {
			lines = append(lines, reveals(p.Task))
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
func (p *display) whoMayShort(n *node.Node, session *node.Session) string {
	by := ""
	if tagOf(session) != "" {
		by = " that have the invitation"
	}
	switch {
	case n.Allow != nil:
		return fmt.Sprintf("closed: only the %s on the list%s take part", sanitize.Count(len(n.Allow), "node"), by)
	case by != "":
		return "closed: only nodes" + by + " take part"
	case len(p.Task.Roster()) > 0:
		return fmt.Sprintf("only the %s on the roster take part", sanitize.Count(len(p.Task.Roster()), "node"))
	}
	return "open: all nodes that reach a port of one of its nodes can take part and read shares"
}

// whoMay describes in full the nodes that can take part in an open task and read its shares.
func (p *display) whoMay() string {
	if parties := len(p.Task.Roster()); parties > 0 {
		return fmt.Sprintf("Only the %s on the roster can take part; each host that reaches a port of one of them learns the task's ID and which nodes take part (--invite FILE closes the task to nodes without a secret, --allow FILE lists those that may connect).",
			sanitize.Count(parties, "node"))
	}
	return "The task is open: each host that reaches a port of one of its nodes learns its ID, can join, read all shares and publish its own (--invite FILE closes it to nodes without a secret, --allow FILE lists those that may connect)."
}

func (p *display) started(ctx context.Context, n *node.Node, session *node.Session) {
	lines := append(p.hello(n), p.terms(ctx, n, session)...)
	p.PrintLine(base.Object{
		"event": "node_started", "task": p.Task.ID().String(), "name": p.Task.Name,
		"peer_id": n.ID().String(), "addresses": n.Addresses(), "data_dir": n.Dir, "open": isOpen(n, session), "tag": tagOf(session),
	}, "%s", text(lines))
	if p.disclosed != nil {
		for _, line := range p.disclosed.Lines() {
			p.Warning(line)
		}
	}
	p.Begin()
}

func (p *display) metrics(url string) {
	p.PrintLine(base.Object{"event": "metrics_served", "url": url}, "metrics at %s", url)
}

func (p *display) imported(past trialfile.Imported, added int) {
	known := len(past.Trials) - added
	p.PrintLine(base.Object{"event": "imported", "file": past.File, "added": added, "known": known, "outside": past.Outside, "unfinished": past.Unfinished},
		"%s imported from %s, %d known already%s", sanitize.Count(added, "past trial"), past.File, known, past.LeftOut())
}

// continued prints what is used of the former task; nothing if the task continues none.
func (p *display) continued(session *node.Session) {
	if c := session.Continued(); c != nil {
		p.PrintLine(struct {
			Event string `json:"event"`
			node.Continued
		}{"continued", *c}, "%s", c.String())
	}
}

// watch prints the number of connected peers and the notices of status items, each time that they
// change.
func (p *display) watch(ctx context.Context, session *node.Session, expected bool) {
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
				p.PrintLine(base.Object{"event": "status", "item": item}, "%s", sanitize.Text(item.Notice, maxNotice))
			}
		}
		now := len(status.TopicPeers)
		p.Tick(now, status.Progress)
		if now != connected {
			p.PrintLine(base.Object{"event": "peers", "topic_peers": now, "present": len(status.Present)}, "peers: %d connected on this task", now)
			connected, alone, warned = now, time.Now(), false
		}
		if now == 0 && expected && !warned && time.Since(alone) > patience {
			p.Warning(lonely(status.Keeping))
			warned = true
		}
	}
}

// whyEnded explains why a run ended by itself.
func (p *display) whyEnded(ctx context.Context, session *node.Session, o options) error {
	stopped, err := session.Stopped(ctx)
	switch {
	case err != nil:
		return err
	case stopped != nil && o.stopGiven && stopped.RegretBound <= o.stopRegret:
		p.PrintLine(base.Object{"event": "stop_regret_reached", "regret_bound": stopped.RegretBound, "stop_regret": stopped.StopRegret, "observations": stopped.Observations}, "%s", render.Stopped(*stopped))
		return nil
	}
	trials, err := session.Trials(ctx)
	spent := agent.Budget{Evals: o.evals, Cost: o.cost}.Progress(trials, time.Now())
	switch {
	case err != nil:
		return err
	case o.costGiven && spent.Cost.Spent >= o.cost:
		p.costSpent(o.cost, *spent.Cost)
	case o.timeGiven && !(o.evalsGiven && spent.Evals >= o.evals):
		p.PrintLine(base.Object{"event": "time_limit_reached", "seconds": o.timeLimit.Seconds()}, "--for %v ended the run; the same command begins with the whole time again", o.timeLimit)
	case o.evalsGiven:
		p.budgetSpent(o.evals)
	}
	return nil
}

// budget prints a hint if the task plans for more evaluations than the run makes.
func (p *display) budget(t *task.Task, evals int) {
	if hint := base.RegistrationOf(t).BudgetHint(t, evals); hint != "" {
		p.PrintLine(base.Object{"event": "budget_hint", "evals": evals, "message": hint}, "hint: %s", hint)
	}
}

// costSpent explains a run that has reached its budget of cost.
func (p *display) costSpent(budget float64, of node.Spending) {
	object := base.Object{"event": "cost_spent", "cost": of.Spent, "budget": budget}
	if p.Idle() {
		p.PrintLine(object, "earlier runs cost %s of the %s that --cost allows; nothing was left to do", render.Number(of.Spent), render.Number(budget))
		return
	}
	p.PrintLine(object, "--cost %s ended the run: the evaluations cost %s", render.Number(budget), render.Number(of.Spent))
}

// budgetSpent explains a run without evaluations.
func (p *display) budgetSpent(evals int) {
	switch {
	case evals == 0: // by --evals 0
		p.PrintLine(base.Object{"event": "budget_spent", "evals": 0}, "--evals 0: nothing is evaluated")
	case p.Idle():
		p.PrintLine(base.Object{"event": "budget_spent", "evals": evals},
			"earlier runs made all %d evaluations that --evals asks for; nothing was left to do", evals)
	}
}

func (p *display) interrupted() {
	p.PrintLast(base.Object{"event": "interrupted"}, "stopped; the same command continues from here")
}

func text(lines []string) string { return strings.Join(lines, "\n") }

func isOpen(n *node.Node, session *node.Session) bool { return n.Allow == nil && tagOf(session) == "" }

// tagOf returns the tag that replaces the task on the network; empty without an invitation.
func tagOf(session *node.Session) string {
	if tag := session.Tag(); tag.Defined() {
		return tag.String()
	}
	return ""
}

// worthShowing omits addresses that users do not need: loopback, if there are others, and TCP if
// there is QUIC.
func worthShowing(addresses []string) []string {
	for _, unwanted := range []string{"/ip4/127.", "/ip6/::1/", "/tcp/"} {
		fewer := slices.DeleteFunc(slices.Clone(addresses), func(a string) bool { return strings.Contains(a, unwanted) })
		if len(fewer) > 0 {
			addresses = fewer
		}
	}
	return addresses
}

// patience is the time without peers after which a run reports it.
const patience = 5 * time.Second

// lonely describes the consequences of having no peers.
func lonely(keeping bool) string {
	if keeping {
		return "no peers on this task; this node sends its stored shares when one joins"
	}
	return "no peers on this task; this node tunes alone until one joins"
}

// maxNotice is the maximum length of the notice of a status item, in characters.
const maxNotice = 500
