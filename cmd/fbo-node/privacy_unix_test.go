//go:build unix

package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/taskcmd"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/strategy"
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

func privacyOf(t *testing.T, dir string) taskcmd.PrivacyReport {
	t.Helper()
	e := call(t, "privacy", "--data-dir", dir, "--json")
	if e.code != base.ExitDone {
		t.Fatalf("exit code %d: %s", e.code, e.stderr)
	}
	var report taskcmd.PrivacyReport
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
		if code := p.wait(t); code != base.ExitDone {
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
	journal := filepath.Join(dir, store.JournalFile)
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
	restored := start(t, join(runLine(file, dir, "--json", "--peer", address), objective("steady"))...)
	restored.await(t, "the refusal", isWarning("restored from a backup"))
	interrupt(t, restored)
	if count := sent(restored.all()); count != 0 {
		t.Errorf("%d shares from a journal that was put back", count)
	}
	refused := privacyOf(t, dir)
	if !strings.Contains(refused.Refused, "restored from a backup") {
		t.Errorf("after the restoration: %+v", refused)
	}
	if refused.Released != 3 || refused.Spent != spent.Spent {
		t.Errorf("peers hold three releases, and of these is told: %+v", refused)
	}
	if text := must(t, "privacy", "--data-dir", dir); !strings.Contains(text, "spent: 3 releases at least, ε = 4; there will be no more: peers hold") || strings.Count(text, "  spent") != 3 {
		t.Errorf("privacy after the refusal:\n%s", text)
	}
	if count := sent(run(strconv.Itoa(len(historyOf(t, dir)) + 5))); count != 0 {
		t.Errorf("%d shares after the refusal", count)
	}
}

func TestPrivacyOfWhatPromisesNothing(t *testing.T) {
	plain := writeFile(t, "task.yaml", bowlTask)
	if e := call(t, "privacy", plain, "--data-dir", shortTempDir(t)); e.code != base.ExitFailed || !strings.Contains(e.stderr, "has no section privacy") {
		t.Errorf("exit code %d: %s", e.code, e.stderr)
	}
	private := writeFile(t, "private.yaml", privateTask)
	impossible := writeFile(t, "impossible.yaml", strings.Replace(privateTask, "epsilon: 4, releases: 3", "epsilon: 0.01, delta: 1e-12, releases: 1000", 1))
	if e := call(t, "task", "check", impossible); e.code != base.ExitUsage || e.stdout != "" || !strings.Contains(e.stderr, "raise epsilon or plan fewer releases") {
		t.Errorf("exit code %d: %s%s", e.code, e.stdout, e.stderr)
	}
	e := call(t, "task", "check", private)
	for _, want := range []string{"guarantee: (ε = 4, δ = 1e-05)", "warning: the noise exceeds the signal", "mechanism aggregate (strategy fts-de) takes averages", "not protected:"} {
		if e.code != base.ExitDone || !strings.Contains(e.stdout, want) {
			t.Errorf("task check says nothing of %q:\n%s%s", want, e.stdout, e.stderr)
		}
	}
	if e := call(t, "privacy", private, "--data-dir", shortTempDir(t)); e.code != base.ExitDone || !strings.Contains(e.stdout, "spent: 0 of 3 releases, ε = 0") {
		t.Errorf("the plan: exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
}

// Two nodes contribute to the sums that their task plans, and both tell it.
func TestPrivateSumsAreTold(t *testing.T) {
	t.Parallel()
	dirs := []string{shortTempDir(t), shortTempDir(t)}
	var names []string
	for _, dir := range dirs {
		names = append(names, strings.TrimSpace(must(t, "peer-id", "--data-dir", dir)))
	}
	text := strings.Replace(strings.Replace(privateTask, "type: fts,", "type: fts-de,", 1),
		"mechanism: local, epsilon: 4, releases: 3", "mechanism: aggregate, epsilon: 4, releases: 2, roster: ["+strings.Join(names, ", ")+"]", 1)
	file := writeFile(t, "task.yaml", text)
	check := struct {
		Privacy taskcmd.PrivacyReport `json:"privacy"`
	}{}
	decode(t, must(t, "task", "check", "--json", file), &check)
	plan := taskcmd.PrivacyReport{}
	decode(t, must(t, "privacy", "--json", "--data-dir", shortTempDir(t), file), &plan)
	if check.Privacy.Sums == nil || check.Privacy.Sums.Roster != 2 || check.Privacy.Sums.Quorum != 2 || *plan.Sums != *check.Privacy.Sums {
		t.Errorf("task check says %+v, privacy %+v", check.Privacy.Sums, plan.Sums)
	}

	first := start(t, join(runLine(file, dirs[0], "--json"), objective("steady"))...)
	second := nodeCommand(join(runLine(file, dirs[1], "--peer", first.address(t)), objective("steady"))...)
	e := finishAnd(t, second, func() {
		defer func() { _ = second.Process.Signal(syscall.SIGINT) }()
		for _, dir := range dirs {
			awaitSums(t, dir, 2)
		}
		if text := must(t, "status", "--data-dir", dirs[0]); !strings.Contains(text, "sums      2 known\n") {
			t.Errorf("status:\n%s", text)
		}
	})
	for _, want := range []string{
		"Only the 2 nodes on the roster can take part", "Peers receive sums over 2 nodes or more", "privacy: 2 of 2 releases spent\nsums: 2 known\n",
	} {
		if !strings.Contains(e.stdout, want) {
			t.Errorf("%q is missing in\n%s%s", want, e.stdout, e.stderr)
		}
	}
	spent := must(t, "privacy", "--data-dir", dirs[1])
	if !strings.Contains(spent, "mechanism aggregate\nguarantee: ") || !strings.Contains(spent, "spent: all 2 releases, ε = 4; the node goes on without sharing") {
		t.Errorf("privacy:\n%s", spent)
	}
	if e := call(t, join(runLine(file, shortTempDir(t)), objective("steady"))...); e.code != base.ExitFailed || !strings.Contains(e.stderr, "is not on the task's roster") {
		t.Errorf("a stranger: exit code %d, %s%s", e.code, e.stdout, e.stderr)
	}
}

// awaitSums waits until a running node knows so many private sums.
func awaitSums(t *testing.T, dir string, count int) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		var s statusView
		if e := call(t, "status", "--json", "--data-dir", dir); e.code == base.ExitDone {
			decode(t, e.stdout, &s)
		}
		sums, _ := strategy.StatusValue[sumCounts](s.Items, "sums")
		if sums.Known >= count {
			return
		}
		if time.Since(began) > patienceOfTests {
			t.Errorf("after %v: %+v", patienceOfTests, sums)
			return
		}
	}
}
