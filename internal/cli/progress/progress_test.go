package progress

import (
	"io"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/strategy"
)

// TestReasonsInLines shortens long reasons and escapes control characters.
func TestReasonsInLines(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"out of memory":          "out of memory",
		"\x1b[2Jgone":            `\x1b[2Jgone`,
		strings.Repeat("ä", 200): strings.Repeat("ä", 200),
		strings.Repeat("ä", 400): strings.Repeat("ä", 200) + "… (whole: fbo-node history --json)",
	} {
		trial := strategy.Trial{ID: 7, State: strategy.Failed, Reason: reason}
		p := Printer{}
		for what, line := range map[string]string{"history": render.Why(trial), "run": p.trialLine(agent.Event{Trial: &trial})} {
			if !strings.HasSuffix(line, "failed: "+want) {
				t.Errorf("%s shows %q, want %q at its end", what, line, want)
			}
		}
	}
}

// TestWarningEscapesControlCharacters shows a warning whose text comes from peers.
func TestWarningEscapesControlCharacters(t *testing.T) {
	t.Parallel()
	const sent, want = "\x1b[2J\u202egone", `\x1b[2J\u202egone`
	var out strings.Builder
	New(&out, nil, false).Warning(sent)
	if text := out.String(); !strings.Contains(text, want) || strings.Contains(text, sent) {
		t.Errorf("a warning: %q, want %s in it", text, want)
	}
}

// TestTrialLineWithoutABest: all that was measured so far broke a bound.
func TestTrialLineWithoutABest(t *testing.T) {
	spec, trials := clitest.Infeasible(t)
	line := New(io.Discard, spec, false).trialLine(agent.Event{Type: agent.TrialFinished, Trial: &trials[0]})
	if want := "   3  0.5          nothing feasible  lr=0.1 "; !strings.HasPrefix(line, want) || !strings.Contains(line, "  infeasible: ram=12 (at most 10)  [") {
		t.Errorf("got %q, want %q", line, want)
	}
}

// TestLinesOfStoppedTrials: the line has the step, the value there and the rule. After patience the
// value is an outcome.
func TestLinesOfStoppedTrials(t *testing.T) {
	spec, trials := clitest.Infeasible(t)
	stop := func(rule, reason string) *curves.Stop { return &curves.Stop{Rule: rule, Step: 3, Reason: reason} }
	of := func(state strategy.State, stop *curves.Stop) strategy.Trial {
		trial := trials[0]
		trial.State, trial.Steps, trial.Stop = state, curves.Curve{{Step: 3, Value: 0.25}}, stop
		if state == strategy.StoppedEarly {
			trial.Outcome = nil
		}
		return trial
	}
	for want, trial := range map[string]strategy.Trial{
		"   3  stopped at step 3 with 0.25 by rule asha: worse \\x1b than others  lr=0.1 ": of(strategy.StoppedEarly, stop("asha", "worse \x1b than others")),
		"   3  stopped at step 3 with 0.25 by rule program  lr=0.1 ":                       of(strategy.StoppedEarly, stop("program", "")),
		"  stopped at step 3 with 0.25 by rule patience: no improvement  [":                of(strategy.Done, stop("patience", "no improvement")),
	} {
		line := New(io.Discard, spec, false).trialLine(agent.Event{Type: agent.TrialFinished, Trial: &trial})
		if !strings.Contains(line, want) {
			t.Errorf("got %q, want %q in it", line, want)
		}
	}
}
