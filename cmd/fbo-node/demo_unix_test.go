//go:build unix

package main_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/democmd"
)

// demoCommand makes the demo keep its temporary directory in dir.
func demoCommand(dir string, args ...string) *exec.Cmd {
	command := nodeCommand(append([]string{"demo"}, args...)...)
	command.Env = append(command.Env, "TMPDIR="+dir)
	return command
}

func checkEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestDemoJSON(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	e := finish(t, demoCommand(dir, "--json", "--nodes", "3", "--evals", "6"))
	if e.code != base.ExitDone {
		t.Fatalf("exit code %d: %s", e.code, e.stderr)
	}
	checkEmpty(t, dir)
	var keys map[string]json.RawMessage
	decode(t, e.stdout, &keys) // exactly one object, or this fails
	var nodes []map[string]json.RawMessage
	decode(t, string(keys["nodes"]), &nodes)
	for _, key := range []string{"peer_id", "evaluations", "best", "alone", "peer_informed_trials", "shares_sent", "shares_received", "bytes_sent"} {
		if len(nodes) == 0 || nodes[0][key] == nil {
			t.Errorf("key %q is missing in %s", key, e.stdout)
		}
	}
	var r democmd.Report
	decode(t, e.stdout, &r)
	if r.Task == "" || r.Seconds <= 0 || len(r.Nodes) != 3 {
		t.Errorf("task %q, %g seconds, %d nodes", r.Task, r.Seconds, len(r.Nodes))
	}
	ids, received := map[string]bool{}, 0
	for _, n := range r.Nodes {
		ids[n.PeerID] = true
		received += n.SharesReceived
		var parameters map[string]any
		decode(t, string(n.Best.Parameters), &parameters)
		if n.Evaluations != 6 || n.Best.Value <= 0 || n.Alone.Value <= 0 || n.Best.Value > 20 || len(parameters) < 4 {
			t.Errorf("node %+v", n)
		}
		if n.SharesSent == 0 || n.BytesSent == 0 || n.PeerInformedTrials > n.Evaluations {
			t.Errorf("node %+v", n)
		}
	}
	if len(ids) != 3 || received == 0 {
		t.Errorf("%d peer IDs, %d shares received", len(ids), received)
	}
}

func TestDemoForPeople(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	e := finish(t, demoCommand(dir, "--nodes", "2", "--evals", "2"))
	if e.code != base.ExitDone || e.stderr != "" {
		t.Fatalf("exit code %d: %s", e.code, e.stderr)
	}
	checkEmpty(t, dir)
	for _, want := range []string{"together: made, best", "2 nodes tune 4 hyperparameters", "each alone", " reached after ", "of 2 nodes", "This took "} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("%q is missing in\n%s", want, e.stdout)
		}
	}
	lines := strings.Split(e.stdout, "\n")
	if len(lines) > 24 || strings.Contains(e.stdout, "\x1b") {
		t.Errorf("%d lines, or escape codes:\n%s", len(lines), e.stdout)
	}
	for _, line := range lines {
		if len([]rune(line)) > 80 {
			t.Errorf("%d characters: %s", len([]rune(line)), line)
		}
	}
}

func TestDemoSeeds(t *testing.T) {
	t.Parallel()
	all := demoOfTwoSeeds(t)
	if len(all.Seeds) != 2 || all.Seeds[0].Seed != 7 || all.Seeds[1].Seed != 8 || all.EvaluationsToAlone < 1 || all.EvaluationsToAlone > 3 {
		t.Fatalf("%+v", all)
	}
	for _, r := range all.Seeds {
		if len(r.Curves.Together) != 3 || len(r.Curves.Alone) != 3 {
			t.Errorf("seed %d: %+v", r.Seed, r.Curves)
		}
	}
}

// demoOfTwoSeeds returns the report of a demo of seeds 7 and 8.
func demoOfTwoSeeds(t *testing.T) (all democmd.SeedsReport) {
	t.Helper()
	dir := shortTempDir(t)
	e := finish(t, demoCommand(dir, "--json", "--nodes", "2", "--evals", "3", "--seed", "7", "--seeds", "2"))
	if e.code != base.ExitDone {
		t.Fatalf("exit code %d: %s", e.code, e.stderr)
	}
	if n := strings.Count(e.stderr, " of 2\n"); n != 2 {
		t.Errorf("%d lines of seeds:\n%s", n, e.stderr)
	}
	decode(t, e.stdout, &all)
	checkEmpty(t, dir)
	return all
}

func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	command := demoCommand(dir, "--nodes", "2", "--evals", "1000")
	e := finishAnd(t, command, func() {
		deadline := time.Now().Add(patienceOfTests)
		for time.Now().Before(deadline) {
			if journals, _ := filepath.Glob(filepath.Join(dir, "*", "*", "journal.db")); len(journals) >= 2 { // the keeper's and one of a node
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := command.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
	})
	if e.code != base.ExitFailed || !strings.Contains(e.stderr, "fbo-node: interrupt") || strings.Count(e.stderr, "\n") != 1 {
		t.Errorf("exit code %d, %q", e.code, e.stderr)
	}
	checkEmpty(t, dir)
}

func TestDemoFlags(t *testing.T) {
	t.Parallel()
	taken := shortTempDir(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--nodes", "0"}, "fbo-node: --nodes 0: accepted are 1 to 32\n"},
		{[]string{"--evals", "0"}, "fbo-node: --evals 0: accepted are 1 and more\n"},
		{[]string{"--samples", "19"}, "fbo-node: --samples 19: accepted are 20 to 100000\n"},
		{[]string{"--seeds", "0"}, "fbo-node: --seeds 0: accepted are 1 and more\n"},
		{[]string{"--seeds", "2", "--data-dir", taken + "/new"}, "fbo-node: --data-dir keeps one run; it cannot be given with --seeds 2\n"},
		{[]string{"--data-dir", taken}, "fbo-node: --data-dir must be a new directory: mkdir " + taken + ": file exists\n"},
	} {
		e := call(t, append([]string{"demo"}, c.args...)...)
		if e.code != base.ExitUsage || e.stderr != c.want || e.stdout != "" {
			t.Errorf("%q: exit code %d, %q", c.args, e.code, e.stderr)
		}
	}
}

func TestDemoWithAStrategy(t *testing.T) {
	t.Parallel()
	checkDemoStrategy(t, "fts")
}

// checkDemoStrategy runs two nodes with a strategy, and expects designs from peers.
func checkDemoStrategy(t *testing.T, strategy string) {
	t.Helper()
	dir := shortTempDir(t)
	e := finish(t, demoCommand(dir, "--json", "--nodes", "2", "--evals", "8", "--strategy", strategy))
	if e.code != base.ExitDone {
		t.Fatalf("exit code %d: %s", e.code, e.stderr)
	}
	checkEmpty(t, dir)
	var r democmd.Report
	decode(t, e.stdout, &r)
	queries := 0
	for _, n := range r.Nodes {
		queries += n.PeerInformedTrials
	}
	if queries == 0 {
		t.Errorf("no design of %d nodes came from a peer", len(r.Nodes))
	}
}

// The first and the last node serve a page until Ctrl-C, also after their evaluations.
func TestDemoPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command := demoCommand(dir, "--nodes", "2", "--evals", "2", "--samples", "40", "--web")
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	slow := time.AfterFunc(patienceOfTests, func() { _ = command.Process.Kill() })
	defer slow.Stop()
	var links []string
	stays := false
	for lines := bufio.NewScanner(stdout); !stays && lines.Scan(); {
		if _, link, ok := strings.Cut(lines.Text(), ": http://"); ok {
			links = append(links, "http://"+link)
		}
		stays = lines.Text() == "The pages stay until Ctrl-C."
	}
	if !stays || len(links) != 2 {
		t.Fatalf("stays: %v, links %v", stays, links)
	}
	for _, link := range links {
		url, key, _ := strings.Cut(link, "/#key=")
		if status, text := pageAsk(t, "GET", url+"/v1/tasks", key); status != 200 || !strings.Contains(text, `"done":2`) {
			t.Errorf("%s: %d %s", link, status, text)
		}
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	checkEmpty(t, dir)
}
