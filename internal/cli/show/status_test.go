package show

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
)

// TestTextsOfOthersInLines escapes control characters of warnings, reasons and addresses.
func TestTextsOfOthersInLines(t *testing.T) {
	t.Parallel()
	const sent, want = "\x1b[2J\u202egone", `\x1b[2J\u202egone`
	items := []strategy.StatusItem{{Key: "a", Label: sent, Text: sent, Rows: [][]string{{"", sent}, {sent}}}}
	for what, write := range map[string]func(out io.Writer){
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

// TestLargeTopicInStatus: the nodes of a large topic do not compare who takes part.
func TestLargeTopicInStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		large *node.LargeStatus
		want  string
	}{
		{nil, "\npeers     0 connected, 2 taking part besides this node, not all agree who yet\nshares"},
		{
			&node.LargeStatus{Authors: []peer.ID{"b", "c"}, Announced: 31, Stored: 30},
			"\npeers     0 connected, 2 taking part besides this node\nlarge     fetches the announced shares of 2 other nodes, stores 30 of 31\nshares",
		},
	} {
		p := past.History{Task: clitest.MixedTask(t), Running: &node.Status{Present: []peer.ID{"a", "b", "c"}, LargeTopic: c.large}}
		var out strings.Builder
		if writeStatus(&out, p); !strings.Contains(out.String(), c.want) {
			t.Errorf("got\n%s\nwant in it\n%s", out.String(), c.want)
		}
		if got := statusObject(p).LargeTopic; got != c.large {
			t.Errorf("the object has %+v, want %+v", got, c.large)
		}
	}
}

// TestNothingFeasibleInStatusAndHistory: all that was measured so far broke a bound.
func TestNothingFeasibleInStatusAndHistory(t *testing.T) {
	spec, trials := clitest.Infeasible(t)
	var status, table, csv strings.Builder
	p := past.History{Task: spec, Trials: trials}
	writeStatus(&status, p)
	if err := errors.Join(writeTable(&table, p), writeCSV(&csv, p)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{status.String(), "best      " + clitest.NothingFeasible + "\n"}, {table.String(), "no: ram=12 (at most 10)"}, {table.String(), clitest.NothingFeasible + "\n"},
		{csv.String(), "trial,state,value,feasible,"}, {csv.String(), "3,done,0.5,false,"}, {csv.String(), "constraint.ram"},
	} {
		if !strings.Contains(c[0], c[1]) {
			t.Errorf("%q is not in\n%s", c[1], c[0])
		}
	}
}
