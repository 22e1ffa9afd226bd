package progress

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// footer is the status line of a run below all others, on terminals that can overwrite a line. Its
// zero value and nil show nothing.
type footer struct {
	out   *os.File
	drawn bool

	task     *task.Task
	keys     string         // keys that the user can press
	progress agent.Progress // as of the last tick, with the evaluations that have ended since
	running  int
	failed   int
	stopped  int
	newest   *strategy.Trial // the newest report of values by step; nil after the end of that trial
	best     []float64       // the best after each outcome, while there is one
	peers    int
}

// newFooter returns nil if out is no such terminal.
func newFooter(out io.Writer, t *task.Task, trials []strategy.Trial, of agent.Progress, keys string) *footer {
	file, ok := base.CanWriteOver(out)
	if !ok {
		return nil
	}
	f := &footer{out: file, task: t, keys: keys, progress: of}
	var best *strategy.Trial
	for i, trial := range trials {
		switch trial.State {
		case strategy.Failed:
			f.failed++
		case strategy.Done:
			if t.Feasible(trial.Outcome) && (best == nil || t.Better(trial.Outcome, best.Outcome)) {
				best = &trials[i]
			}
			if !t.Several() {
				f.reach(best)
			}
		case strategy.StoppedEarly:
			f.stopped++
		}
	}
	return f
}

func (f *footer) reach(best *strategy.Trial) {
	if best != nil {
		f.best = append(f.best, best.Outcome.Value)
	}
}

// take processes an event.
func (f *footer) take(e agent.Event) {
	if f == nil {
		return
	}
	switch e.Type {
	case agent.TrialStarted:
		f.running++
	case agent.TrialReported:
		f.newest = e.Trial
	case agent.TrialFinished:
		f.running = max(f.running-1, 0)
		if f.newest != nil && f.newest.ID == e.Trial.ID {
			f.newest = nil
		}
		switch e.Trial.State {
		case strategy.Failed:
			f.failed++
			return
		case strategy.StoppedEarly:
			f.stopped++
			f.progress.Evals++
			return
		}
		f.progress.Evals++
		f.reach(e.Best)
	}
}

// clear removes the line, so that others can be written.
func (f *footer) clear() {
	if f != nil && f.drawn {
		fmt.Fprint(f.out, "\r\x1b[K")
		f.drawn = false
	}
}

// draw writes the line, or overwrites it.
func (f *footer) draw() {
	if f == nil {
		return
	}
	f.clear()
	width, _, err := term.GetSize(int(f.out.Fd()))
	if err != nil || width < 20 {
		return
	}
	// A character in the last column would begin a new line.
	fmt.Fprint(f.out, base.Cut(f.text(), width-1))
	f.drawn = true
}

func (f *footer) text() string {
	parts := []string{render.Progress(f.progress)}
	if f.running > 0 {
		running := fmt.Sprintf("%d running", f.running)
		if f.newest != nil {
			last := f.newest.Steps.Last()
			running += fmt.Sprintf(", trial %d at step %d: %s", f.newest.ID, last.Step, render.Number(last.Value))
		}
		parts = append(parts, running)
	}
	if f.failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", f.failed))
	}
	if f.stopped > 0 {
		parts = append(parts, fmt.Sprintf("%d stopped early", f.stopped))
	}
	if n := len(f.best); n > 0 {
		parts = append(parts, "best "+render.Number(f.best[n-1])+" "+sparkline(f.best, sparkWidth))
	}
	parts = append(parts, sanitize.Count(f.peers, "peer"))
	if left := render.TimeLeft(f.progress); left != "" {
		parts = append(parts, left)
	}
	return strings.Join(append(parts, f.keys), " · ")
}

// sparkWidth is the maximum number of characters of a sparkline.
const sparkWidth = 16

// sparkline returns values as columns, the newest at the right. With more than width values each
// column shows the last value of its part.
func sparkline(values []float64, width int) string {
	const columns = "▁▂▃▄▅▆▇█"
	steps := []rune(columns)
	count := min(len(values), width)
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	var line strings.Builder
	for i := range count {
		v := values[(i+1)*len(values)/count-1]
		// Halves, so that the difference of the largest numbers is one.
		share := (v/2 - low/2) / (high/2 - low/2)
		if !(high > low) || math.IsNaN(share) {
			share = 0
		}
		line.WriteRune(steps[int(math.Round(share*float64(len(steps)-1)))])
	}
	return line.String()
}

// paint colours text for people at a terminal.
type paint bool

// paintOf returns true for terminals, unless the user wants no colours (https://no-color.org).
func paintOf(w io.Writer) paint {
	_, ok := base.CanWriteOver(w)
	return paint(ok && os.Getenv("NO_COLOR") == "")
}

// Colours, as terminals number them.
const (
	red    = 31
	green  = 32
	yellow = 33
)

func (p paint) in(colour int, text string) string {
	if !p {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colour, text)
}
