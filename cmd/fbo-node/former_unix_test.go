//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
)

// A file that does not say what nodes share means guarded shares, but in a data directory
// that has begun the task with exact ones: there run goes on with these and says so, and
// history finds them. Once the file says guarded, it is that.
func TestExactSharesGoOn(t *testing.T) {
	t.Parallel()
	silent := strings.Replace(bowlTask, "strategy: {type: fts}\n", "", 1)
	file, dir := writeFile(t, "task.yaml", silent+"strategy: {share: exact}\n"), shortTempDir(t)
	run := func(dir, evals string) string {
		t.Helper()
		e := call(t, join(runLine(file, dir, "--wait-for-peers", "0", "--evals", evals), objective("bowl"))...)
		if e.code != exitDone {
			t.Fatalf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
		}
		return e.stdout
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exact := strings.TrimSpace(must(t, "task", "id", file))
	if out := run(dir, "2"); !strings.Contains(out, exact) || strings.Contains(out, asBefore) {
		t.Errorf("with share: exact:\n%s", out)
	}
	write(silent)
	guarded := strings.TrimSpace(must(t, "task", "id", file))
	if out := run(dir, "3"); !strings.Contains(out, exact) || !strings.Contains(out, asBefore) || !strings.Contains(out, "continues after 2 evaluations") {
		t.Errorf("without the key, where exact shares have begun:\n%s", out)
	}
	if text := must(t, "history", "--data-dir", dir, file); !strings.Contains(text, "\n3      done") {
		t.Errorf("history:\n%s", text)
	}
	if out := run(shortTempDir(t), "2"); guarded == exact || !strings.Contains(out, guarded) || strings.Contains(out, asBefore) {
		t.Errorf("without the key, in a new directory:\n%s", out)
	}
	write(silent + "strategy: {share: guarded}\n")
	if out := run(dir, "2"); !strings.Contains(out, guarded) || strings.Contains(out, asBefore) || strings.Contains(out, "continues after") {
		t.Errorf("with share: guarded:\n%s", out)
	}
}
