// Package progress prints what happens at a node as it happens: lines for people, with a line at the
// bottom of a terminal that shows where the run stands, or JSON objects for programs.
package progress

import (
	"fmt"
	"io"
	"sync"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Printer prints a run: lines for people, or one JSON object per event.
type Printer struct {
	mu    sync.Mutex
	Out   io.Writer
	Task  *task.Task
	JSON  bool
	begun bool          // what the node works on has been shown, which comes first
	early []agent.Event // happened before
	ended int           // evaluations that ended in this run
	over  bool          // the summary has been shown, and nothing but the end follows

	warned warned
	paint  paint
	foot   *footer // nil where there is none
}

// New returns a printer of the events of a task.
func New(out io.Writer, t *task.Task, asJSON bool) *Printer {
	return &Printer{Out: out, Task: t, JSON: asJSON, paint: paintOf(out) && !paint(asJSON)}
}

// PrintLine prints a line for people, or an object for programs. A failing write is
// not worth stopping a run for.
func (p *Printer) PrintLine(object any, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.print(object, format, args...)
	}
}

// PrintLast prints the summary like PrintLine. Afterwards PrintLine prints nothing, because
// peers and connections may still cause events while the node closes.
func (p *Printer) PrintLast(object any, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.print(object, format, args...)
}

func (p *Printer) print(object any, format string, args ...any) {
	if p.JSON {
		_ = base.PrintJSON(p.Out, object)
	} else if format != "" {
		p.foot.clear()
		fmt.Fprintf(p.Out, format+"\n", args...)
		if !p.over {
			p.foot.draw()
		}
	}
}

// Stand begins the status line of a run, at a terminal. The line ends with keys, the commands of
// the user.
func (p *Printer) Stand(trials []strategy.Trial, of agent.Progress, keys string) {
	if p.JSON {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.foot = newFooter(p.Out, p.Task, trials, of, keys)
}

// Stands reports whether there is such a line.
func (p *Printer) Stands() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.foot != nil
}

// Leave removes that line.
func (p *Printer) Leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.foot.clear()
	p.foot = nil
}

// Tick draws that line again, with the number of connected peers and the progress.
func (p *Printer) Tick(peers int, of agent.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.foot != nil && !p.over {
		p.foot.peers, p.foot.progress = peers, of
		p.foot.draw()
	}
}

// Warning prints a warning and keeps it for later readers.
func (p *Printer) Warning(message string) {
	p.warned.add(message)
	p.PrintLine(base.Object{"event": "warning", "message": message}, "%s %s", p.paint.in(yellow, "warning:"), sanitize.Lines(message))
}

// Resume allows further lines after the summary.
func (p *Printer) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = false
}

// Event shows what the agent reports, once its start has been shown.
func (p *Printer) Event(e agent.Event) {
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

// Begin shows what has happened before the start was shown.
func (p *Printer) Begin() {
	p.mu.Lock()
	early := p.early
	p.begun, p.early = true, nil
	p.mu.Unlock()
	for _, e := range early {
		p.show(e)
	}
}

func (p *Printer) show(e agent.Event) {
	if e.Kind == presence.Kind {
		return // frequent, and already part of the peers line
	}
	switch {
	case e.Type == agent.WaitEnded:
		p.waited(e)
	case e.Type == agent.TrialFinished:
		p.mu.Lock()
		p.ended++
		p.mu.Unlock()
		p.PrintLine(e, "%s", p.trialLine(e))
	default:
		p.PrintLine(e, "")
	}
}

// Idle reports whether no evaluation has ended.
func (p *Printer) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended == 0
}

// shortWait is the longest wait that is not worth a line.
const shortWait = 0.5 // seconds

func (p *Printer) waited(e agent.Event) {
	switch {
	case e.Authors > 0:
		p.PrintLine(e, "received shares from %s within %.1f s; the first design can use them", sanitize.Count(e.Authors, "node"), e.Seconds)
	case e.Seconds > shortWait:
		p.PrintLine(e, "received no shares within %.1f s", e.Seconds)
	default:
		p.PrintLine(e, "")
	}
}

func (p *Printer) trialLine(e agent.Event) string {
	t := e.Trial
	if t.State == strategy.Failed {
		return fmt.Sprintf("%4d  %s %s", t.ID, p.paint.in(red, "failed:"), render.Reason(*t)+cost(t))
	}
	if t.State == strategy.StoppedEarly {
		return fmt.Sprintf("%4d  %s %s  %s  [%s]", t.ID, p.paint.in(yellow, "stopped"), render.StoppedAt(*t), t.Design.String()+cost(t), t.Why)
	}
	best := "nothing feasible"
	switch {
	case e.Best != nil && p.Task.Several():
		if best = "dominated"; e.Better {
			best = "on the front"
		}
	case e.Better:
		best = "new best"
	case e.Best != nil:
		best = "best " + render.Number(e.Best.Outcome.Value)
	}
	notes := ""
	if violations := render.Violations(p.Task, t.Outcome); violations != "" {
		notes = "  infeasible: " + violations
	}
	if metrics := render.Metrics(render.WithoutObjectives(p.Task, t.Outcome), shownMetrics); metrics != "" {
		notes += "  (" + metrics + ")"
	}
	notes += cost(t)
	if t.Stop != nil && t.Stop.Rule == curves.PatienceRule {
		notes += "  stopped " + render.StoppedAt(*t)
	}
	best = fmt.Sprintf("%-17s", best)
	if e.Better {
		best = p.paint.in(green, best)
	}
	value := render.Number(t.Outcome.Value)
	if p.Task.Several() {
		value = render.Scores(p.Task, t.Outcome)
	}
	return fmt.Sprintf("%4d  %-12s %s %s%s  [%s]", t.ID, value, best, t.Design, notes, t.Why)
}

// cost returns the cost of a trial for its line; empty without one.
func cost(t *strategy.Trial) string {
	if t.Cost == nil {
		return ""
	}
	return "  cost " + render.Number(*t.Cost)
}

// shownMetrics is how many metrics the line of a trial shows.
const shownMetrics = 3
