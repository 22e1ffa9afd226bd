package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/node"
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
		for what, line := range map[string]string{"history": render.Why(trial), "run": p.trialLine(agent.Event{Trial: &trial})} {
			if !strings.HasSuffix(line, "failed: "+want) {
				t.Errorf("%s shows %q, want %q at its end", what, line, want)
			}
		}
	}
}

// TestTextsOfOthersInLines escapes control characters of warnings, reasons and addresses.
func TestTextsOfOthersInLines(t *testing.T) {
	t.Parallel()
	const sent, want = "\x1b[2J\u202egone", `\x1b[2J\u202egone`
	items := []strategy.StatusItem{{Key: "a", Label: sent, Text: sent, Rows: [][]string{{"", sent}, {sent}}}}
	for what, write := range map[string]func(out io.Writer){
		"a warning of run": func(out io.Writer) { newProgress(out, nil, false).warning(sent) },
		"a warning of hub": func(out io.Writer) { hubOptions{}.warning(out, sent) },
		"the items of run": func(out io.Writer) { fmt.Fprintln(out, strings.Join(render.ItemLines(items), "\n")) },
		"the items of a task": func(out io.Writer) {
			writeStatus(out, past.History{Task: clitest.MixedTask(t), Items: items, Running: &node.Status{Items: items}})
		},
		"the state of a task": func(out io.Writer) {
			writeStatus(out, past.History{Task: clitest.MixedTask(t), Running: &node.Status{WaitsFor: sent}})
		},
		"the address of a peer": func(out io.Writer) {
			writeStatus(out, past.History{Task: clitest.MixedTask(t), Running: &node.Status{Peers: []node.Link{{Address: sent}}}})
		},
	} {
		var out strings.Builder
		write(&out)
		if text := out.String(); !strings.Contains(text, want) || strings.Contains(text, sent) {
			t.Errorf("%s: %q, want %s in it", what, text, want)
		}
	}
}
