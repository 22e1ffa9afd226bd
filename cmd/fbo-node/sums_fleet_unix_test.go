//go:build unix

package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/control"
	"github.com/fbo-node/fbo/internal/privacy/securesum"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling/ftsde"
)

// patienceOfSums bounds every wait for a round, which may take 40 s by itself.
const patienceOfSums = slowness * patienceOfTests

// summedObjective waits before it measures until the file in its first argument
// allows its trial; it ends when that file has gone. The second is where its
// minimum lies.
const summedObjective = `sleep 0.3
while read -r limit < "$1" && [ "$FBO_TRIAL" -gt "$limit" ]; do sleep 0.2; done
awk "BEGIN { print ($FBO_PARAM_X - $2)^2 + ($FBO_PARAM_Y - 0.3)^2 }"
`

// fleet is nodes that form the roster of one task, each a process of its own.
// A node has as many observations as the test allows it.
type fleet struct {
	file, script string
	evals        int
	flags        []string // of every run, besides the usual ones
	listen       []string // where nodes listen, at any port
	task         *task.Task
	nodes        []*fleetNode // in the order of the roster
}

type fleetNode struct {
	id     peer.ID
	dir    string
	limit  string // file of the last trial that may end
	shift  float64
	starts []*process
	moves  bool // to other ports when it comes back
	dead   bool
}

// newFleet makes the identities and a task of them.
func newFleet(t *testing.T, nodes, evals int, strategy, privacy string) *fleet {
	t.Helper()
	f := &fleet{evals: evals, script: writeFile(t, "objective.sh", summedObjective)}
	roster := f.enrol(t, nodes)
	for i, n := range f.nodes {
		n.shift = 0.1 * float64(i)
	}
	f.read(t, fmt.Sprintf(`name: sums
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
surrogate: {features: 16}
strategy: {type: fts-de, %s}
privacy: {mechanism: aggregate, %s, roster: [%s]}
`, strategy, privacy, strings.Join(roster, ", ")))
	return f
}

// enrol makes the nodes' identities, and returns them as a roster.
func (f *fleet) enrol(t *testing.T, nodes int) (roster []string) {
	t.Helper()
	f.listen = []string{"/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0"}
	for range nodes {
		dir := shortTempDir(t)
		id, err := peer.Decode(strings.TrimSpace(must(t, "peer-id", "--data-dir", dir)))
		if err != nil {
			t.Fatal(err)
		}
		f.nodes = append(f.nodes, &fleetNode{id: id, dir: dir, limit: writeFile(t, "limit", "0\n")})
	}
	slices.SortFunc(f.nodes, func(a, b *fleetNode) int { return strings.Compare(string(a.id), string(b.id)) })
	for _, n := range f.nodes {
		roster = append(roster, n.id.String())
	}
	return roster
}

// read takes the fleet's task from the text of a file.
func (f *fleet) read(t *testing.T, text string) {
	t.Helper()
	f.file = writeFile(t, "task.yaml", text)
	var err error
	if f.task, err = all.Strategies().Parse(f.file, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// outside returns the first node that is not one of these.
func (f *fleet) outside(these ...*fleetNode) *fleetNode {
	return f.nodes[slices.IndexFunc(f.nodes, func(n *fleetNode) bool { return !slices.Contains(these, n) })]
}

// committee are those who serve in a round, in order of rank.
func (f *fleet) committee(round int) []*fleetNode {
	var members []*fleetNode
	for _, id := range securesum.Elect(f.task.ID(), uint64(round), f.task.Privacy.Aggregate.Roster, f.task.Privacy.Aggregate.Committee) {
		members = append(members, f.nodes[slices.IndexFunc(f.nodes, func(n *fleetNode) bool { return n.id == id })])
	}
	return members
}

// due is how many observations make a node begin a round.
func (f *fleet) due(round int) int {
	return f.task.Strategy.InitialDesigns + (round-1)*f.task.Strategy.Settings.(ftsde.Settings).ShareEvery
}

// alive lists the nodes that run, but for some.
func (f *fleet) alive(but ...*fleetNode) (nodes []*fleetNode) {
	for _, n := range f.nodes {
		if len(n.starts) > 0 && !n.dead && !slices.Contains(but, n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// startAll returns when all nodes run.
func (f *fleet) startAll(t *testing.T) {
	t.Helper()
	for _, n := range f.nodes {
		f.start(t, n, f.evals)
	}
	for _, n := range f.nodes {
		n.process().await(t, "its start", isEvent("metrics_served"))
	}
}

// start runs a node, for the first time or again: then at the ports that it had, if
// they are free, as nodes do by themselves. At others those that were connected by
// QUIC would speak to the process that is gone for half a minute.
func (f *fleet) start(t *testing.T, n *fleetNode, evals int) {
	t.Helper()
	flags := append([]string{"--json", "--metrics", "127.0.0.1:0", "--evals", strconv.Itoa(evals)}, f.flags...)
	for _, other := range f.alive(n)[:min(2, len(f.alive(n)))] {
		flags = append(flags, "--peer", other.process().address(t))
	}
	listen := f.listen
	if len(n.starts) > 0 && !n.moves {
		listen = nil
		for _, address := range n.process().await(t, "its addresses", isEvent("node_started")).Addresses {
			at, _, _ := strings.Cut(address, "/p2p/")
			listen = append(listen, at)
		}
	}
	if err := os.WriteFile(filepath.Join(n.dir, "listen-addresses"), []byte(strings.Join(listen, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	line := []string{"run", f.file, "--data-dir", n.dir, "--mdns=false"}
	n.starts = append(n.starts, start(t, join(line, flags, []string{"--", "sh", f.script, n.limit, fmt.Sprint(n.shift)})...))
	n.dead = false
}

// allow lets nodes make their observations up to a number.
func allow(t *testing.T, trial int, nodes ...*fleetNode) {
	t.Helper()
	for _, n := range nodes {
		// The shell must never see half a file.
		if err := os.WriteFile(n.limit+".new", []byte(strconv.Itoa(trial)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(n.limit+".new", n.limit); err != nil {
			t.Fatal(err)
		}
	}
}

func (n *fleetNode) process() *process { return n.starts[len(n.starts)-1] }

// kill is how power cuts end a node.
func (n *fleetNode) kill(t *testing.T) {
	t.Helper()
	n.process().signal(t, syscall.SIGKILL)
	<-n.process().ended
	n.dead = true
}

// finish lets the nodes use up their budgets.
func (f *fleet) finish(t *testing.T) {
	t.Helper()
	allow(t, f.evals, f.nodes...)
	for _, n := range f.nodes {
		if code := n.process().wait(t); code != base.ExitDone || n.process().stderr.Len() > 0 {
			t.Errorf("%s: exit code %d, %s", n.id, code, n.process().stderr.String())
		}
		if trials := historyOf(t, n.dir); len(trials) != f.evals {
			t.Errorf("%s has made %d evaluations of %d", n.id, len(trials), f.evals)
		}
	}
}

// contributions is to how many rounds the node has said that it contributes, in
// all its starts.
func (n *fleetNode) contributions() (count int) {
	for _, p := range n.starts {
		for _, e := range p.of("share_sent") {
			if e.Kind == protocol.AggregateKind {
				count++
			}
		}
	}
	return count
}

// status is what the running node says of itself.
func (n *fleetNode) status(t *testing.T) (s node.Status) {
	t.Helper()
	began := time.Now()
	running, ok, err := askOnly(n.dir)
	for err != nil { // it gives up before a loaded machine has answered
		if time.Since(began) > patienceOfTests {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		running, ok, err = askOnly(n.dir)
	}
	if ok { // it may have ended
		decode(t, string(running.Status), &struct {
			*node.Status
			Best json.RawMessage `json:"best"` // a design needs its space to be read
		}{Status: &s})
	}
	return s
}

// askOnly asks the node of a directory about its only task; ok is false when none runs.
func askOnly(dir string) (s control.TaskState, ok bool, err error) {
	tasks, ok, err := control.Tasks(context.Background(), dir)
	if err != nil || !ok {
		return control.TaskState{}, ok, err
	}
	return control.Task(context.Background(), dir, tasks[0].ID)
}

// sumCounts is the value of the status item "sums".
type sumCounts struct {
	Known, Failed int
	Reason        string
}

// sums returns the counts of sums in the node's status.
func (n *fleetNode) sums(t *testing.T) sumCounts {
	t.Helper()
	counts, _ := strategy.StatusValue[sumCounts](n.status(t).Items, "sums")
	return counts
}

// measured tells whether a node has told the outcome of a trial in this start.
func (n *fleetNode) measured(trial int) bool {
	return slices.ContainsFunc(n.process().of("trial_finished"), func(e event) bool { return e.Trial.ID >= uint64(trial) })
}

// journal is what the node has on disk, which it may be writing to.
func (n *fleetNode) journal(t *testing.T) journalOfSums {
	t.Helper()
	j, err := readJournalOfSums(filepath.Join(n.dir, store.JournalFile))
	if err != nil {
		t.Fatalf("%s: %v", n.id, err)
	}
	return j
}

// eventually waits until something holds of all nodes, and returns how long that
// took. None may end meanwhile.
func eventually(t *testing.T, what string, nodes []*fleetNode, holds func(*fleetNode) bool) time.Duration {
	t.Helper()
	began := time.Now()
	waiting := slices.Clone(nodes)
	for {
		var ended []*fleetNode
		for _, n := range waiting {
			select {
			case <-n.process().ended:
				ended = append(ended, n)
			default:
			}
		}
		waiting = slices.DeleteFunc(waiting, holds)
		switch {
		case len(waiting) == 0:
			return time.Since(began)
		case slices.ContainsFunc(ended, func(n *fleetNode) bool { return slices.Contains(waiting, n) }):
			t.Fatalf("a node ended before %s", what)
		case time.Since(began) > patienceOfSums:
			t.Fatalf("%d of %d nodes have not seen %s", len(waiting), len(nodes), what)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// summed waits until nodes know the sum of a round.
func (f *fleet) summed(t *testing.T, round int, nodes []*fleetNode) time.Duration {
	t.Helper()
	return eventually(t, fmt.Sprintf("the sum of round %d", round), nodes, func(n *fleetNode) bool {
		return len(n.journal(t).sums[round]) > 0
	})
}

// contributed waits until nodes have contributed to a round, or know its sum if
// they came too late.
func contributed(t *testing.T, round int, nodes []*fleetNode) {
	t.Helper()
	eventually(t, fmt.Sprintf("its contribution to round %d", round), nodes, func(n *fleetNode) bool {
		j := n.journal(t)
		return j.dealt[round] > 0 || len(j.sums[round]) > 0
	})
}

// traffic is what nodes have sent, and direct messages they got, since they
// started.
type traffic struct{ bytes, messages, received, failures, lost float64 }

func trafficOf(t *testing.T, nodes []*fleetNode) (sent traffic) {
	t.Helper()
	for _, n := range nodes {
		_, text := fetch(t, n.process().await(t, "its metrics", isEvent("metrics_served")).URL)
		for line := range strings.Lines(text) {
			name, rest, _ := strings.Cut(line, "{")
			_, number, _ := strings.Cut(rest, "} ")
			value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil {
				continue
			}
			switch name {
			case "fbo_sent_bytes_total":
				sent.bytes += value
			case "fbo_direct_sent_total":
				sent.messages += value
			case "fbo_direct_received_total":
				if strings.Contains(rest, protocol.AggregateKind) {
					sent.received += value
				}
			case "fbo_direct_send_failures_total":
				sent.failures += value
			case "fbo_direct_dropped_total":
				sent.lost += value
			}
		}
	}
	return sent
}

// reportRound says what a round took nodes that lived through it.
func reportRound(t *testing.T, round int, took time.Duration, nodes []*fleetNode, before traffic) {
	t.Helper()
	now, n := trafficOf(t, nodes), float64(len(nodes))
	t.Logf("round %d: %.1f s; by each of %d nodes, all else included: %.1f KiB sent, %.1f direct messages, %.1f attempts failed, %.1f messages given up",
		round, took.Seconds(), len(nodes), (now.bytes-before.bytes)/n/1024, (now.messages-before.messages)/n, (now.failures-before.failures)/n, (now.lost-before.lost)/n)
}
