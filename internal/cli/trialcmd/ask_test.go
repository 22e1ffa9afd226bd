package trialcmd

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/strategy"
)

// TestProgressOfAttempts prints trials for people. Only interrupted and reported ones have progress.
func TestProgressOfAttempts(t *testing.T) {
	t.Parallel()
	of, trials := clitest.Infeasible(t)
	reported := curves.Curve{{Step: 3, Value: 1}, {Step: 12, Value: 0.5}}
	for _, test := range []struct {
		attempts int
		steps    curves.Curve
		want     string // second line; empty: a parameter
	}{
		{1, nil, ""},
		{2, nil, "attempt 2"},
		{1, reported, "last step 12 with value 0.5"},
		{3, reported, "attempt 3, last step 12 with value 0.5"},
	} {
		one := trial{Trial: strategy.Trial{ID: 1, Design: trials[0].Design, Attempts: test.attempts, Steps: test.steps}}
		var out bytes.Buffer
		if err := (askOptions{format: "text"}).print(&out, io.Discard, place{task: of}, []trial{one}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		if progress := strings.Contains(out.String(), "attempt") || strings.Contains(out.String(), "step"); progress != (test.want != "") || progress && lines[1] != test.want {
			t.Errorf("attempt %d with %d values: got %q, want %q", test.attempts, len(test.steps), lines, test.want)
		}
	}
}

// TestVariablesOfAttempts prints a trial in its first attempt, and one with values of an earlier one.
func TestVariablesOfAttempts(t *testing.T) {
	t.Parallel()
	of, trials := clitest.Infeasible(t)
	first, second := trial{Trial: strategy.Trial{ID: 1, Design: trials[0].Design, Attempts: 1}}, trial{Trial: strategy.Trial{ID: 2, Design: trials[0].Design, Attempts: 2}}
	second.Steps = curves.Curve{{Step: 3, Value: 1}, {Step: 12, Value: 0.5}}
	var out bytes.Buffer
	if err := (askOptions{format: "env"}).print(&out, io.Discard, place{task: of}, []trial{first, second}); err != nil {
		t.Fatal(err)
	}
	var own []string
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, "FBO_PARAM_") {
			own = append(own, strings.TrimSpace(line))
		}
	}
	const want = "FBO_TRIAL=1 FBO_ATTEMPT=1 FBO_TRIAL=2 FBO_ATTEMPT=2 FBO_STEP=12"
	if got := strings.Join(own, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
