//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/node"
)

const privateTask = `
name: private
goal: minimize
parameters:
  - {name: x, type: float, low: -5, high: 5}
  - {name: y, type: float, low: -5, high: 5}
surrogate: {features: 16}
strategy: {type: fts, initial_designs: 2}
privacy: {mechanism: local, epsilon: 4, releases: 3}
`

func privacyOf(t *testing.T, dir string) privacyReport {
	t.Helper()
	e := call(t, "privacy", "--data-dir", dir, "--json")
	if e.code != exitDone {
		t.Fatalf("exit code %d: %s", e.code, e.stderr)
	}
	var report privacyReport
	if err := json.Unmarshal([]byte(e.stdout), &report); err != nil {
		t.Fatal(err)
	}
	return report
}

// A node spends what the task plans and goes on without sharing. Restarted, it
// releases nothing more. With its journal put back to an earlier state it refuses,
// because its peers remember, and for good.
func TestThePromiseOutlivesTheJournal(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", privateTask)
	first := start(t, join(runLine(file, shortTempDir(t), "--json"), objective("steady"))...)
	address := first.address(t)
	second := start(t, join(runLine(file, shortTempDir(t), "--json", "--peer", address), objective("steady"))...)
	second.await(t, "its start", isEvent("node_started"))

	dir := shortTempDir(t)
	run := func(evals string) []event {
		t.Helper()
		p := start(t, join(runLine(file, dir, "--json", "--peer", address, "--evals", evals), objective("steady"))...)
		if code := p.wait(t); code != exitDone {
			t.Fatalf("exit code %d", code)
		}
		return p.all()
	}
	sent := func(events []event) (count int) {
		for _, e := range events {
			if e.Event == "share_sent" && e.Kind == "weights" {
				count++
			}
		}
		return count
	}
	journal := filepath.Join(dir, node.JournalFile)
	run("1") // too few observations for a release
	if r := privacyOf(t, dir); r.Released != 0 || r.Spent != 0 {
		t.Fatalf("before any release: %+v", r)
	}
	backup, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if count := sent(run("40")); count != 3 {
		t.Errorf("%d shares of 3 planned", count)
	}
	spent := privacyOf(t, dir)
	if spent.Released != 3 || spent.Spent > 4 || spent.Spent < 3.9 || len(spent.Costs) != 3 {
		t.Errorf("after the plan: %+v", spent)
	}
	if count := sent(run("45")); count != 0 {
		t.Errorf("%d shares after all were spent", count)
	}
	if err := os.WriteFile(journal, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	if count := sent(run("30")); count != 0 {
		t.Errorf("%d shares from a journal that was put back", count)
	}
	refused := privacyOf(t, dir)
	if !strings.Contains(refused.Refused, "restored from a backup") {
		t.Errorf("after the restoration: %+v", refused)
	}
	if count := sent(run("35")); count != 0 {
		t.Errorf("%d shares after the refusal", count)
	}
}

func TestPrivacyOfWhatPromisesNothing(t *testing.T) {
	plain := writeFile(t, "task.yaml", bowlTask)
	if e := call(t, "privacy", plain, "--data-dir", shortTempDir(t)); e.code != exitFailed || !strings.Contains(e.stderr, "promises nothing") {
		t.Errorf("exit code %d: %s", e.code, e.stderr)
	}
	private := writeFile(t, "private.yaml", privateTask)
	impossible := writeFile(t, "impossible.yaml", strings.Replace(privateTask, "epsilon: 4, releases: 3", "epsilon: 0.01, delta: 1e-12, releases: 1000", 1))
	if e := call(t, "task", "check", impossible); e.code != exitUsage || e.stdout != "" || !strings.Contains(e.stderr, "raise epsilon or plan fewer releases") {
		t.Errorf("exit code %d: %s%s", e.code, e.stdout, e.stderr)
	}
	e := call(t, "task", "check", private)
	for _, want := range []string{"promise: (ε = 4, δ = 1e-05)", "warning: the noise drowns the signal", "not protected:"} {
		if e.code != exitDone || !strings.Contains(e.stdout, want) {
			t.Errorf("task check says nothing of %q:\n%s%s", want, e.stdout, e.stderr)
		}
	}
	if e := call(t, "privacy", private, "--data-dir", shortTempDir(t)); e.code != exitDone || !strings.Contains(e.stdout, "spent: 0 of 3 releases, ε = 0") {
		t.Errorf("the plan: exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
}
