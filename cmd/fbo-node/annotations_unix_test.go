//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/strategy"
)

// keptJSON is a trial as history prints it, with what it keeps.
type keptJSON struct {
	ID    uint64 `json:"id"`
	State string `json:"state"`
	strategy.Annotations
}

func keptBy(t *testing.T, dir string) (all []keptJSON) {
	t.Helper()
	decode(t, must(t, "history", "--json", "--data-dir", dir), &all)
	return all
}

// TestRunKeepsAnnotations: a command's output has attributes, tags and files, also with a failure; a
// text among the metrics costs no value and gives one warning. Notes are added after the run.
func TestRunKeepsAnnotations(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "bowl.yaml", bowlTask), shortTempDir(t)
	const script = `if [ $FBO_TRIAL = 2 ]; then echo '{"error": "no memory", "attributes": {"commit": "f00"}}'
else echo '{"value": '$FBO_TRIAL', "acc": 2, "host": "a", "attributes": {"commit": "\u001b[2Jabc"}, "tags": ["b", "a"], "files": [{"path": "out/model.pt"}]}'; fi`
	e := call(t, join(runLine(file, dir, "--evals", "2"), []string{"--", "sh", "-c", script})...)
	if e.code != base.ExitDone || strings.Count(e.stdout+e.stderr, `the text of "host" is not stored`) != 1 || !strings.Contains(e.stdout+e.stderr, `expected texts as {"attributes": {"host": "a"}}`) {
		t.Fatalf("%d: %s%s", e.code, e.stdout, e.stderr)
	}
	trials := keptBy(t, dir)
	if len(trials) != 3 || trials[0].Attributes["commit"] != "\x1b[2Jabc" || strings.Join(trials[0].Tags, " ") != "a b" || len(trials[2].Files) != 1 ||
		trials[1].State != "failed" || trials[1].Attributes["commit"] != "f00" {
		t.Fatalf("history %+v", trials)
	}

	model := filepath.Join(shortTempDir(t), "model.pt")
	if err := os.WriteFile(model, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if text := must(t, "note", "3", "the sensor was replaced\nbefore", "--author", "Ada", "--tag", "c", "--file", model, "--sha256", "--data-dir", dir); !strings.HasPrefix(text, `trial 3 keeps commit=\x1b[2Jabc #a #b #c 2 files 1 note`) {
		t.Errorf("note: %s", text)
	}
	must(t, "note", file, "3", "--attribute", "commit=", "--remove-tag", "a", "--data-dir", dir)
	must(t, "note", file, "1", "wrong trial", "--data-dir", dir)
	must(t, "note", "1", "--remove-note", "1", "--data-dir", dir)
	trials = keptBy(t, dir)
	if len(trials[0].Notes) != 0 || trials[2].Attributes != nil || strings.Join(trials[2].Tags, " ") != "b c" || len(trials[2].Notes) != 1 ||
		trials[2].Notes[0].Author != "Ada" || trials[2].Notes[0].Time.IsZero() || trials[2].Files[1].SHA256 != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("history %+v", trials)
	}
	table := must(t, "history", "--data-dir", dir)
	detail := must(t, "history", "--trial", "3", "--data-dir", dir)
	for text, want := range map[string][]string{
		table:  {"  keeps\n", `commit=\x1b[2Jabc #a #b 1 file`, "#b #c 2 files 1 note"},
		detail: {"trial      3, done\nvalue      3\n", "metrics    acc=2", "tags       b, c\n", "file       out/model.pt\nfile       " + model + " (sha256 e3b0", ", Ada: the sensor was replaced\n           before\n"},
	} {
		for _, part := range want {
			if !strings.Contains(text, part) || strings.Contains(text, "\x1b") {
				t.Errorf("no %q in\n%s", part, text)
			}
		}
	}
	for _, bad := range []struct {
		code int
		want string
		args []string
	}{
		{base.ExitUsage, "TEXT is missing", []string{"3"}},
		{base.ExitUsage, "TEXT is missing", []string{"bowl", "3"}},
		{base.ExitUsage, `trial "x": expected a whole number`, []string{"bowl", "x", "text"}},
		{base.ExitUsage, `unexpected: "d"`, []string{"bowl", "3", "c", "d"}},
		{base.ExitUsage, "the author of TEXT, which is missing", []string{"3", "--author", "me", "--tag", "a"}},
		{base.ExitUsage, `--attribute "a": expected NAME=TEXT`, []string{"3", "--attribute", "a"}},
		{base.ExitUsage, "no such file", []string{"3", "--file", model + "x", "--sha256"}},
		{base.ExitUsage, "--trial 9: expected 1 to 3", nil},
		{base.ExitFailed, "unknown trial 9", []string{"9", "text"}},
	} {
		args := append([]string{"note"}, bad.args...)
		if bad.args == nil {
			args = []string{"history", "--trial", "9"}
		}
		if e := call(t, append(args, "--data-dir", dir)...); e.code != bad.code || !strings.Contains(e.stderr, bad.want) {
			t.Errorf("%q: %d, %s; expected %q", args, e.code, e.stderr, bad.want)
		}
	}
}

// TestTellAndNoteOfARunningNode: annotations go through the running node.
func TestTellAndNoteOfARunningNode(t *testing.T) {
	t.Parallel()
	dir, file := shortTempDir(t), writeFile(t, "alloy.yaml", benchTask)
	startServe(t, dir)
	call(t, "ask", file, "--count", "2", "--data-dir", dir)
	if e := call(t, "tell", "1", "0.5", "cracks=true", "operator=Ada", "--data-dir", dir); e.code != base.ExitUsage || !strings.Contains(e.stderr, "a text is kept by --attribute 'operator=Ada'; nothing has changed") {
		t.Errorf("a text among the metrics: %d, %s", e.code, e.stderr)
	}
	if text := must(t, "tell", "1", "0.5", "cracks=true", "--attribute", "operator=Ada", "--tag", "good", "--data-dir", dir); !strings.HasPrefix(text, "trial 1 is stored: 0.5; it keeps operator=Ada #good\n") {
		t.Errorf("tell: %s", text)
	}
	must(t, "tell", "2", "--failed", "it broke", "--file", "scans/2.tif", "--data-dir", dir)
	var noted keptJSON
	decode(t, must(t, "note", "alloy", "2", "dropped", "--json", "--data-dir", dir), &noted)
	if noted.ID != 2 || len(noted.Notes) != 1 || noted.Notes[0].Text != "dropped" || len(noted.Files) != 1 {
		t.Errorf("note: %+v", noted)
	}
	if trials := keptBy(t, dir); trials[0].Attributes["operator"] != "Ada" || len(trials[1].Notes) != 1 {
		t.Errorf("history %+v", trials)
	}
	if e := call(t, "note", "7", "x", "--data-dir", dir); e.code != base.ExitFailed || !strings.Contains(e.stderr, "unknown trial 7: trials 1 to 2 exist") {
		t.Errorf("an unknown trial: %d, %s", e.code, e.stderr)
	}
}
