//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/taskcmd"
)

// A task with another name and a smaller ε is given the trials of one whose promise is
// spent: run, task check and privacy say so, and what both promises come to. Tasks that
// tell nothing, or that have other parameters and data, have nothing to say.
func TestPromisesAboutTheSameDataAreAddedUp(t *testing.T) {
	t.Parallel()
	first := writeFile(t, "first.yaml", privateTask)
	peer := start(t, join(runLine(first, shortTempDir(t), "--json"), objective("steady"))...)
	address := peer.address(t)
	dir := shortTempDir(t)
	if e := call(t, join(runLine(first, dir, "--peer", address, "--evals", "12"), objective("steady"))...); e.code != base.ExitDone || !strings.Contains(e.stdout, "privacy: 3 of 3 releases spent\n") {
		t.Fatalf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	past := filepath.Join(shortTempDir(t), "past.csv")
	if err := os.WriteFile(past, []byte(must(t, "history", "--format", "csv", "--data-dir", dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	renamed := filepath.Join(filepath.Dir(past), "renamed.csv")
	if err := os.WriteFile(renamed, []byte(strings.Replace(must(t, "history", "--format", "csv", "--data-dir", dir), ",x,y,", ",u,v,", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	change := func(pairs ...string) string {
		return writeFile(t, "changed.yaml", strings.NewReplacer(pairs...).Replace(privateTask))
	}
	second := change("name: private", "name: again", "epsilon: 4", "epsilon: 3")
	const spent = `task "private" (`
	const sum = "with all 3 releases that this task plans to (ε = 5.26, δ = 1e-05), adjacency replace-one"

	e := must(t, "task", "check", "--data-dir", dir, second)
	for _, want := range []string{spent, "has spent 3 releases, (ε = 4, δ = 1e-05), on data with the same parameters, perhaps the same data", sum} {
		if !strings.Contains(e, want) {
			t.Errorf("task check says nothing of %q:\n%s", want, e)
		}
	}
	run := func(file string, flags ...string) string {
		t.Helper()
		e := call(t, join(runLine(file, dir, append(flags, "--wait-for-peers", "0", "--evals", "1")...), objective("bowl"))...)
		if e.code != base.ExitDone {
			t.Fatalf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
		}
		return e.stdout
	}
	out := run(second, "--import", past)
	for _, want := range []string{"warning: " + spent, "on the same data (of its trials 12 are this task's too)\n", sum} {
		if !strings.Contains(out, want) {
			t.Errorf("run says nothing of %q:\n%s", want, out)
		}
	}
	// Once imported they are this task's own, and later runs say the same.
	if out := run(second, "--evals", "2"); !strings.Contains(out, "(of its trials 12 are this task's too)\n") {
		t.Errorf("the next run:\n%s", out)
	}
	id := strings.TrimSpace(must(t, "task", "id", second))
	var report taskcmd.PrivacyReport
	decode(t, must(t, "privacy", "--json", "--data-dir", dir, id), &report)
	// Two normal distributions at distance μ, μ² = 0.925² + 0.719², the distances at which
	// (4, 1e-5) and (3, 1e-5) are kept.
	if disclosed := report.OtherTasks; disclosed == nil || len(disclosed.Tasks) != 1 || disclosed.Tasks[0].Releases != 3 || disclosed.Tasks[0].Trials != 12 || disclosed.EpsilonTotal < 5.25 || disclosed.EpsilonTotal > 5.27 {
		t.Errorf("privacy of the second task: %+v", report.OtherTasks)
	}
	if text := must(t, "privacy", "--data-dir", dir, id); !strings.Contains(text, "\nwarning: "+spent) || !strings.Contains(text, sum) {
		t.Errorf("privacy of the second task:\n%s", text)
	}

	open := change("type: fts,", "type: peer-prior,", "\nprivacy: {mechanism: local, epsilon: 4, releases: 3}", "")
	if out := run(open, "--import", past); !strings.Contains(out, "that guarantee does not cover the shares of this task, which have none") || strings.Contains(out, "adds up") {
		t.Errorf("a task without a promise:\n%s", out)
	}
	if out := run(second, "--evals", "3"); !strings.Contains(out, "has shared information about the same data (of its trials 12 are this task's too)") || strings.Contains(out, "adds up") {
		t.Errorf("after a task without a promise:\n%s", out)
	}
	other := change("name: x", "name: u", "name: y", "name: v", "name: private", "name: other")
	if out := run(other, "--import", renamed); !strings.Contains(out, spent) || !strings.Contains(out, "(of its trials 12 are this task's too)") {
		t.Errorf("renamed parameters:\n%s", out)
	}
	silent := change("type: fts,", "type: logei,", "\nprivacy: {mechanism: local, epsilon: 4, releases: 3}", "")
	unrelated := change("name: x", "name: a", "name: y", "name: b")
	for name, out := range map[string]string{"a task that shares nothing": run(silent, "--import", past), "a task with other parameters": must(t, "task", "check", "--data-dir", dir, unrelated)} {
		if strings.Contains(out, "same data") {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}
