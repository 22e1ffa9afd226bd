package node_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const continuedTask = "name: line\ngoal: minimize\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\nsurrogate: {features: 16}\n"

// widened is the file that continues a task with a wider bound.
func widened(t *testing.T, former *task.Task) *task.Task {
	t.Helper()
	return parse(t, strings.Replace(continuedTask, "high: 1", "high: 2", 1)+"continues: "+former.ID().String()+"\n")
}

func startWarned(t *testing.T, dir string, peers ...string) (*node.Node, *[]string) {
	t.Helper()
	var warnings []string
	n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: loopbackAddresses(), Peers: peers, OnWarning: func(message string) { warnings = append(warnings, message) }}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n, &warnings
}

func joinTask(t *testing.T, n *node.Node, spec *task.Task) *node.Session {
	t.Helper()
	session, err := n.Join(t.Context(), spec, node.JoinOptions{Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func evaluateLine(t *testing.T, session *node.Session, evals int) {
	t.Helper()
	line := func(_ context.Context, d task.Design) (float64, error) {
		return (d.Float("x") - 0.3) * (d.Float("x") - 0.3), nil
	}
	if err := session.Run(t.Context(), line, node.RunOptions{Evals: evals}); err != nil {
		t.Fatal(err)
	}
}

// Two nodes work on a task. One changes the file, and carries over its trials and the other's share;
// the other follows, and its share on the new task arrives. A restart carries nothing over twice.
func TestContinuedTask(t *testing.T) {
	t.Parallel()
	former := parse(t, continuedTask)
	current := widened(t, former)
	dirs := []string{t.TempDir(), t.TempDir()}
	first, _ := startWarned(t, dirs[0])
	second, _ := startWarned(t, dirs[1], first.Addresses()...)
	one, two := joinTask(t, first, former), joinTask(t, second, former)
	evaluateLine(t, one, 4)
	evaluateLine(t, two, 4)
	awaitStatus(t, one, func(s node.Status) bool { return s.Stored.PeerShares > 0 })
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	again, warnings := startWarned(t, dirs[0], second.Addresses()...)
	session := joinTask(t, again, current)
	c := session.Continued()
	if c == nil || c.Trials != 4 || c.Added != 4 || c.PeerShares != 1 || len(c.DroppedTrials)+len(c.DroppedShares) > 0 {
		t.Fatalf("continued: %+v", c)
	}
	if text := c.String(); !strings.HasPrefix(text, "4 trials carried over from task "+former.ID().String()[:8]) || !strings.HasSuffix(text, "; 1 share of its peers used") {
		t.Errorf("line: %s", text)
	}
	if len(*warnings) > 0 {
		t.Errorf("warnings: %q", *warnings)
	}
	evaluateLine(t, session, 1)
	trials, err := session.Trials(t.Context())
	if err != nil || len(trials) != 5 || !trials[4].Why.FromPeers() {
		t.Fatalf("trials %v, %v: expected one that uses the former share", trials, err)
	}
	follows := joinTask(t, second, current)
	awaitStatus(t, session, func(s node.Status) bool { return s.Stored.PeerShares > 0 })
	if c := follows.Continued(); c == nil || c.Trials != 4 {
		t.Errorf("the other node: %+v", c)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	third, _ := startWarned(t, dirs[0])
	session = joinTask(t, third, current)
	trials, err = session.Trials(t.Context())
	if c := session.Continued(); err != nil || c == nil || c.Added != 0 || c.Trials != 4 || len(trials) != 5 {
		t.Errorf("after a restart: %+v, %d trials, %v", c, len(trials), err)
	}
}

func awaitStatus(t *testing.T, session *node.Session, enough func(node.Status) bool) {
	t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		status, err := session.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if enough(status) {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("status %+v", status)
		}
	}
}

// A former task that the node does not have, or whose goal differs, causes one warning, and the run
// goes on.
func TestContinuedTaskIsUnknown(t *testing.T) {
	t.Parallel()
	former := parse(t, continuedTask)
	current := widened(t, former)
	reversed := parse(t, strings.Replace(string(current.Canonical()), "minimize", "maximize", 1))
	n, warnings := startWarned(t, t.TempDir())
	session := joinTask(t, n, current)
	if len(*warnings) != 1 || !strings.Contains((*warnings)[0], "which the data directory does not have") || !strings.Contains((*warnings)[0], "fbo-node keep FORMER.yaml") {
		t.Errorf("warnings: %q", *warnings)
	}
	evaluateLine(t, session, 1)
	if session.Continued() != nil {
		t.Errorf("continued: %+v", session.Continued())
	}
	evaluateLine(t, joinTask(t, n, former), 2) // warns of the previous task of this name
	evaluateLine(t, joinTask(t, n, reversed), 1)
	if len(*warnings) != 3 || !strings.Contains((*warnings)[2], "the goal is maximize and was minimize") {
		t.Errorf("warnings: %q", *warnings)
	}
}

// The cached shares of a former task are verified as those of the own task: a changed file is
// discarded with a warning.
func TestContinuedCacheIsNotTrusted(t *testing.T) {
	t.Parallel()
	former := parse(t, continuedTask)
	dir := t.TempDir()
	n, warnings := startWarned(t, dir)
	evaluateLine(t, joinTask(t, n, former), 4)
	folder := filepath.Join(dir, "peer-shares")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, former.ID().String()+".jsonl"), []byte("{\"format\":2}\n{\"sha256\":\"\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	session := joinTask(t, n, widened(t, former))
	if c := session.Continued(); c == nil || c.Trials != 4 || c.PeerShares != 0 {
		t.Errorf("continued: %+v", c)
	}
	if len(*warnings) != 1 || !strings.Contains((*warnings)[0], "peers' shares on the former task") {
		t.Errorf("warnings: %q", *warnings)
	}
}
