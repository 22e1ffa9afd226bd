//go:build unix

package main_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/taskref"
)

// run and serve warn once of the previous task, unless its trials are imported. The command in the
// warning works.
func TestChangedTaskFileIsNoticed(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	old := writeFile(t, "old.yaml", bowlTask)
	wider := writeFile(t, "wider.yaml", strings.Replace(bowlTask, "high: 2", "high: 3", 1))
	must(t, join(runLine(old, dir, "--evals", "2"), objective("bowl"))...)
	short := taskref.Short(idOf(t, old))
	want := `warning: task "bowl" (` + taskref.Short(idOf(t, wider)) + ") starts without trials: the data directory has 2 trials of another task of this name, " + short
	csv := must(t, "history", short, "--data-dir", dir, "--format", "csv")
	past := writeFile(t, "past.csv", csv)

	imported := filepath.Join(shortTempDir(t), "copy")
	must(t, join(runLine(old, imported, "--evals", "2"), objective("bowl"))...)
	if out := must(t, join(runLine(wider, imported, "--evals", "0", "--import", past), objective("bowl"))...); strings.Contains(out, "another task of this name") {
		t.Errorf("with an import:\n%s", out)
	}

	if out := must(t, join(runLine(wider, dir, "--evals", "1"), objective("bowl"))...); strings.Count(out, want) != 1 {
		t.Errorf("%q is missing or there more than once in\n%s", want, out)
	}
	if out := must(t, join(runLine(wider, dir, "--evals", "2"), objective("bowl"))...); strings.Contains(out, "another task of this name") {
		t.Errorf("the second time:\n%s", out)
	}

	p, _ := startServe(t, dir)
	client := socketClient(dir)
	p.await(t, "the start", isEvent("serving"))
	text := strings.Replace(bowlTask, "high: 2", "high: 4", 1)
	mustRequest(t, http.StatusCreated, client, "POST", "/v1/tasks", object{"text": text})
	p.await(t, "the warning", func(e event) bool {
		return e.Event == "warning" && strings.Contains(e.Message, "of another task of this name, ") && strings.Contains(e.Message, "(and of 1 more)")
	})
}
