//go:build unix

package main_test

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/taskref"
)

// A node changes a bound, and goes on with its trials and the share of its peer on the former task.
// task check shows before what will be carried over.
func TestContinuedTaskFile(t *testing.T) {
	t.Parallel()
	text := strings.Replace(bowlTask, "strategy: {type: fts}\n", "", 1)
	old := writeFile(t, "old.yaml", text)
	id := idOf(t, old)
	wider := writeFile(t, "wider.yaml", strings.Replace(text, "x, type: float, low: -2, high: 2", "x, type: float, low: -2, high: 3", 1)+"continues: "+id+"\n")

	other, dir := shortTempDir(t), shortTempDir(t)
	peer := start(t, join(runLine(old, other, "--json", "--evals", "4", "--keep-after"), objective("bowl"))...)
	address := peer.await(t, "its start", isEvent("node_started")).Addresses[0]
	peer.await(t, "its results", isEvent("summary"))
	must(t, join(runLine(old, dir, "--evals", "5", "--peer", address), objective("bowl"))...)

	check := must(t, "task", "check", wider, "--data-dir", dir)
	for _, want := range []string{
		"continues   task " + taskref.Short(id), "change      x: bounds widened to -2 … 3, before -2 … 2",
		"carries     5 trials; 1 stored share of peers",
	} {
		if !strings.Contains(check, want) {
			t.Errorf("%q is missing in\n%s", want, check)
		}
	}
	line := "5 trials carried over from task " + taskref.Short(id) + "; 1 share of its peers used"
	if out := must(t, join(runLine(wider, dir, "--evals", "1"), objective("bowl"))...); !strings.Contains(out, line) || strings.Contains(out, "warning:") {
		t.Errorf("%q is missing, or there is a warning:\n%s", line, out)
	}
	again := "5 trials carried over from task " + taskref.Short(id) + " (5 before); 1 share of its peers used"
	if out := must(t, join(runLine(wider, dir, "--evals", "2"), objective("bowl"))...); !strings.Contains(out, again) {
		t.Errorf("%q is missing in\n%s", again, out)
	}
	unknown := "task \"bowl\" continues task " + taskref.Short(id) + ", which the data directory does not have"
	if out := must(t, join(runLine(wider, shortTempDir(t), "--evals", "1"), objective("bowl"))...); strings.Count(out, unknown) != 1 {
		t.Errorf("%q is missing in\n%s", unknown, out)
	}
}
