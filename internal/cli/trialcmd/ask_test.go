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
