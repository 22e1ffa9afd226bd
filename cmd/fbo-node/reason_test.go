package main

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/agent"
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
		p := progress{}
		for what, line := range map[string]string{"history": whyText(trial), "run": p.trialLine(agent.Event{Trial: &trial})} {
			if !strings.HasSuffix(line, "failed: "+want) {
				t.Errorf("%s shows %q, want %q at its end", what, line, want)
			}
		}
	}
}
