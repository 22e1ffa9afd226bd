//go:build unix

package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// pythonWith is the interpreter that FBO_PYTHON names, or python3. Without the module the
// test is skipped.
func pythonWith(t *testing.T, module string) string {
	t.Helper()
	name := os.Getenv("FBO_PYTHON")
	if name == "" {
		name = "python3"
	}
	if output, err := exec.Command(name, "-c", "import "+module).CombinedOutput(); err != nil {
		t.Skipf("%s cannot import %s: %v, %s; FBO_PYTHON can name another Python", name, module, err, output)
	}
	return name
}

// studyView is what internal/export/testdata/study.py prints.
type studyView struct {
	Name       string         `json:"name"`
	Direction  string         `json:"direction"`
	Attributes map[string]any `json:"attributes"`
	Best       *int           `json:"best"`
	Trials     []struct {
		State         string             `json:"state"`
		Value         *float64           `json:"value"`
		Params        map[string]any     `json:"params"`
		Distributions map[string]string  `json:"distributions"`
		Attributes    map[string]any     `json:"attributes"`
		Constraints   map[string]float64 `json:"constraints"`
	} `json:"trials"`
}

func studyOf(t *testing.T, path string) (s studyView) {
	t.Helper()
	e := finish(t, exec.Command(pythonWith(t, "optuna"), filepath.Join("..", "..", "internal", "export", "testdata", "study.py"), path))
	if e.code != 0 || e.stderr != "" {
		t.Fatalf("exit code %d\n%s", e.code, e.stderr)
	}
	decode(t, e.stdout, &s)
	return s
}

// agrees compares what Optuna reads with the history.
func agrees(t *testing.T, s studyView, history []trialJSON) {
	t.Helper()
	if len(s.Trials) != len(history) {
		t.Fatalf("%d trials, want %d", len(s.Trials), len(history))
	}
	for i, want := range history {
		got := s.Trials[i]
		var parameters map[string]any
		decode(t, string(want.Parameters), &parameters)
		count, _ := got.Attributes["peer_count"].(float64)
		if !reflect.DeepEqual(got.Params, parameters) || got.Attributes["trial"] != float64(want.ID) || got.Attributes["source"] != string(want.Why.Source) ||
			got.Attributes["why"] != want.Why.String() || got.Attributes["from_peers"] != want.Why.FromPeers() || int(count) != want.Why.PeerCount {
			t.Errorf("trial %+v became %+v", want, got)
		}
		switch {
		case want.State == string(strategy.Failed):
			if got.State != "FAIL" || got.Value != nil || got.Attributes["reason"] != want.Reason {
				t.Errorf("trial %+v became %+v", want, got)
			}
		case got.State != "COMPLETE" || *got.Value != want.Outcome.Value:
			t.Errorf("trial %+v became %+v", want, got)
		}
	}
}

// TestOptunaReadsARun: Optuna finds the trials, failed ones too, and the best of a run.
func TestOptunaReadsARun(t *testing.T) {
	t.Parallel()
	pythonWith(t, "optuna")
	file, dir := writeFile(t, "task.yaml", mixedTask), shortTempDir(t)
	call(t, join(runLine(file, dir, "--evals", "4"), objective("sometimes"))...)
	path := filepath.Join(shortTempDir(t), "study.log")
	said := must(t, "export", file, path, "--format", "optuna-journal", "--data-dir", dir)
	status, history := statusOf(t, dir), historyOf(t, dir)
	if want := path + ` has 7 trials of task "mixed" (` + status.Task + ")\n"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
	s := studyOf(t, path)
	agrees(t, s, history)
	if s.Name != "mixed" || s.Direction != "MAXIMIZE" || s.Attributes["task_id"] != status.Task || s.Best == nil || history[*s.Best].ID != status.Best.ID {
		t.Errorf("study %+v, status %+v", s, status)
	}
	want := map[string]string{
		"lr":    "FloatDistribution(high=1.0, log=True, low=0.001, step=None)",
		"units": "IntDistribution(high=64, log=False, low=1, step=1)",
		"kind":  "CategoricalDistribution(choices=('sgd', 'a, b', '7'))",
	}
	if got := s.Trials[0].Distributions; !reflect.DeepEqual(got, want) {
		t.Errorf("distributions %v", got)
	}
	if again := must(t, "export", file, "-", "--format", "optuna-journal", "--data-dir", dir); again != read(t, path) {
		t.Errorf("standard output has\n%s", again)
	}
}

// TestOptunaReadsPeersAndConstraints: a node that listens to another one, on a task with
// constraints.
func TestOptunaReadsPeersAndConstraints(t *testing.T) {
	t.Parallel()
	pythonWith(t, "optuna")
	file, dir := writeFile(t, "task.yaml", limitsTask), shortTempDir(t)
	first := start(t, join(runLine(file, shortTempDir(t), "--json", "--seed", "1", "--evals", "6", "--keep-after"), objective("limits"))...)
	first.await(t, "the end of its evaluations", isEvent("keeping"))
	call(t, join(runLine(file, dir, "--seed", "2", "--evals", "8", "--peer", first.address(t)), objective("limits"))...)
	path := filepath.Join(shortTempDir(t), "study.log")
	must(t, "export", file, path, "--format", "optuna-journal", "--data-dir", dir)
	s, history, status := studyOf(t, path), historyOf(t, dir), statusOf(t, dir)
	agrees(t, s, history)
	fromPeers := 0
	for i, trial := range history {
		if trial.Why.FromPeers() {
			fromPeers++
		}
		if trial.Outcome == nil {
			continue
		}
		right, up := trial.Outcome.Constraints["right"].Float(), trial.Outcome.Constraints["up"].Float()
		want := map[string]float64{"right": 1 - right, "up": max(-0.5-up, up-0.5)}
		if got := s.Trials[i]; !reflect.DeepEqual(got.Constraints, want) || got.Attributes["feasible"] != (want["right"] <= 0 && want["up"] <= 0) {
			t.Errorf("trial %d: %+v, want constraints %v", trial.ID, got, want)
		}
	}
	if fromPeers == 0 {
		t.Errorf("no design came from peers: %+v", history)
	}
	if (s.Best == nil) != (status.Best == nil) || s.Best != nil && history[*s.Best].ID != status.Best.ID {
		t.Errorf("best %v, status %+v", s.Best, status.Best)
	}
}

// TestExportOfARunningNode: the trial that runs is in the table and the document, and not
// in a study.
func TestExportOfARunningNode(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	p := start(t, join(runLine(file, dir, "--json"), objective("gate", g.address, "3"))...)
	p.await(t, "its third trial", func(e event) bool { return e.Event == "trial_started" && e.Trial.ID == 3 })
	out := shortTempDir(t)
	table := must(t, "export", file, "-", "--format", "csv", "--data-dir", dir)
	if lines := strings.Split(table, "\n"); len(lines) != 5 || !strings.HasPrefix(lines[3], "3,running,,") || table != must(t, "history", "--format", "csv", "--data-dir", dir) {
		t.Errorf("the table is\n%s", table)
	}
	said := must(t, "export", file, filepath.Join(out, "study.log"), "--format", "optuna-journal", "--data-dir", dir)
	if !strings.Contains(said, "has 2 trials of task") || !strings.HasSuffix(said, "; left out: 1 trial without an end\n") {
		t.Errorf("%q", said)
	}
	if text := read(t, filepath.Join(out, "study.log")); strings.Count(text, `"op_code":4,`) != 2 {
		t.Errorf("the study is\n%s", text)
	}
	var document struct {
		ID     string
		Task   json.RawMessage
		Trials []trialJSON
	}
	decode(t, must(t, "export", file, "-", "--format", "json", "--data-dir", dir), &document)
	parsed, err := all.Strategies().Parse("document", document.Task)
	if err != nil || parsed.ID().String() != document.ID || len(document.Trials) != 3 || document.Trials[2].State != "running" || document.ID != statusOf(t, dir).Task {
		t.Errorf("%v, %+v", err, document)
	}
}

// TestExportCanBeImported: designs, values, constraints and metrics go to another data
// directory, where they are known the second time.
func TestExportCanBeImported(t *testing.T) {
	t.Parallel()
	const valueTask = "name: v\ngoal: minimize\nparameters: [{name: value, type: float, low: 0, high: 1}]\n"
	for _, c := range []struct {
		task, mode, format string
	}{
		{mixedTask, "sometimes", "csv"}, {mixedTask, "sometimes", "json"}, {mixedTask, "chatty", "csv"},
		{limitsTask, "limits", "csv"}, {limitsTask, "limits", "json"}, {limitsTask, "limits", "optuna-journal"}, {mixedTask, "sometimes", "optuna-journal"}, {valueTask, "bowl", "json"},
	} {
		file, origin, dir := writeFile(t, "task.yaml", c.task), shortTempDir(t), shortTempDir(t)
		call(t, join(runLine(file, origin, "--evals", "5"), objective(c.mode))...)
		path := filepath.Join(shortTempDir(t), "past."+strings.Replace(c.format, "optuna-journal", "log", 1))
		must(t, "export", file, path, "--format", c.format, "--data-dir", origin)
		original := historyOf(t, origin)
		for _, want := range []event{{Added: len(original)}, {Known: len(original)}} {
			p := start(t, join(runLine(file, dir, "--json", "--import", path, "--evals", "0"), objective(c.mode))...)
			if e := p.await(t, "the import", isEvent("imported")); e.Added != want.Added || e.Known != want.Known {
				t.Errorf("%v: imported %+v", c, e)
			}
			p.wait(t)
		}
		done, got := 0, historyOf(t, dir)
		for i, trial := range original {
			if trial.Outcome != nil {
				done++
			}
			if got[i].State != trial.State || string(got[i].Parameters) != string(trial.Parameters) || !reflect.DeepEqual(got[i].Outcome, trial.Outcome) {
				t.Errorf("%v: trial %+v became %+v", c, trial, got[i])
			}
		}
		if done != 5 || len(got) != len(original) {
			t.Errorf("%v: %d trials with an outcome, %d imported of %d", c, done, len(got), len(original))
		}
	}
}

func TestExportReplacesNothing(t *testing.T) {
	t.Parallel()
	file, dir, out := writeFile(t, "task.yaml", bowlTask), shortTempDir(t), shortTempDir(t)
	must(t, join(runLine(file, dir, "--evals", "1"), objective("bowl"))...)
	path, link := filepath.Join(out, "trials.csv"), filepath.Join(out, "link")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{file, path, "--format", "csv"}, base.ExitUsage, "export: " + path + " exists; --force replaces it"},
		{[]string{file, link, "--format", "csv", "--force"}, base.ExitUsage, "export: " + link + " exists and is no regular file; expected new files, regular ones with --force, and - for standard output"},
		{[]string{file, out, "--format", "csv", "--force"}, base.ExitUsage, "export: " + out + " exists and is no regular file; expected new files, regular ones with --force, and - for standard output"},
		{[]string{file, filepath.Join(out, "new")}, base.ExitUsage, filepath.Join(out, "new") + ": the end of the file names no format; expected .csv, .json or .log"},
		{[]string{file, filepath.Join(out, "new"), "--format", "xml"}, base.ExitUsage, `--format "xml": expected csv, json, steps or optuna-journal`},
		{[]string{file, "--format", "csv"}, base.ExitUsage, "fbo-node export takes 2 arguments, not 1: fbo-node export TASK FILE [--format csv|json|steps|optuna-journal]"},
		{[]string{"unknown", filepath.Join(out, "new"), "--format", "csv"}, base.ExitFailed, "data directory " + dir + " has no task unknown"},
		{[]string{file, filepath.Join(out, "missing", "new"), "--format", "csv"}, base.ExitFailed, "export: open " + filepath.Join(out, "missing", "new")},
	} {
		e := call(t, join([]string{"export", "--data-dir", dir}, c.args)...)
		if e.code != c.code || e.stdout != "" || !strings.HasPrefix(e.stderr, "fbo-node: "+c.want) || strings.Count(e.stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, %q, want %d, %q", c.args, e.code, e.stderr, c.code, c.want)
		}
	}
	if read(t, path) != "mine" {
		t.Errorf("the file is now %q", read(t, path))
	}
	must(t, "export", file, path, "--format", "csv", "--force", "--data-dir", dir)
	if text := read(t, path); text != must(t, "history", "--format", "csv", "--data-dir", dir) {
		t.Errorf("the file is %q", text)
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestExportTakesTheFormatOfTheFile(t *testing.T) {
	t.Parallel()
	file, dir, out := writeFile(t, "task.yaml", bowlTask), shortTempDir(t), shortTempDir(t)
	must(t, join(runLine(file, dir, "--evals", "1"), objective("bowl"))...)
	for name, format := range map[string]string{"a.csv": "csv", "a.JSON": "json", "a.log": "optuna-journal"} {
		must(t, "export", "--data-dir", dir, file, filepath.Join(out, name))
		must(t, "export", "--data-dir", dir, file, filepath.Join(out, "given"), "--format", format, "--force")
		inferred, given := read(t, filepath.Join(out, name)), read(t, filepath.Join(out, "given"))
		if format == "optuna-journal" { // which has a random worker
			inferred, given = inferred[:10], given[:10]
		}
		if inferred != given {
			t.Errorf("%s:\n%s\nexpected\n%s", name, inferred, given)
		}
	}
}
