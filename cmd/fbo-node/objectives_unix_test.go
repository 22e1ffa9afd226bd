//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

const tradeTask = `name: trade
objectives:
  - {name: error, goal: minimize, reference: 10}
  - {name: speed, goal: maximize, reference: -3}
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
strategy: {type: alone}
surrogate: {features: 64}
`

// frontJSON is the front as best --json prints it: IDs, values and speeds.
func frontJSON(t *testing.T, dir string) (ids []uint64, text string) {
	t.Helper()
	var front []trialJSON
	decode(t, must(t, "best", "--json", "--data-dir", dir), &front)
	for _, trial := range front {
		ids = append(ids, trial.ID)
		text += fmt.Sprintf("%g %g\n", trial.Outcome.Value, trial.Outcome.Metrics["speed"])
	}
	return ids, text
}

// A node on a task with two objectives is killed and started again. The front is that of all pairs of its
// outcomes, before and after, and in the files that it exports, which another node imports. An evaluation that
// leaves out an objective fails by its name.
func TestFrontSurvivesKillExportAndImport(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", tradeTask), shortTempDir(t)
	line := join(runLine(file, dir, "--json", "--wait-for-peers", "0s", "--evals", "12"), objective("trade"))
	victim := start(t, line...)
	victim.await(t, "its seventh trial", func(e event) bool { return e.Event == "trial_finished" && e.Trial.ID == 7 })
	victim.signal(t, syscall.SIGKILL)
	victim.wait(t)
	before, _ := frontJSON(t, dir)
	stored := len(historyOf(t, dir))

	again := start(t, line...)
	if code := again.wait(t); code != base.ExitDone {
		t.Fatalf("exit code %d: %s", code, again.stderr.String())
	}
	trials := historyOf(t, dir)
	dominated := func(trial trialJSON, among []trialJSON) bool {
		return slices.ContainsFunc(among, func(by trialJSON) bool {
			if by.Outcome == nil {
				return false
			}
			a, b := by.Outcome, trial.Outcome
			return a.Value <= b.Value && a.Metrics["speed"] >= b.Metrics["speed"] && (a.Value < b.Value || a.Metrics["speed"] > b.Metrics["speed"])
		})
	}
	frontOf := func(among []trialJSON) (ids []uint64) {
		for _, trial := range among {
			if trial.Outcome != nil && !dominated(trial, among) {
				ids = append(ids, trial.ID)
			}
		}
		return ids
	}
	sorted := func(ids []uint64) []uint64 { return slices.Sorted(slices.Values(ids)) }
	if want := frontOf(trials[:stored]); !slices.Equal(sorted(before), want) {
		t.Errorf("after the kill the front is %v, want %v", before, want)
	}
	ids, values := frontJSON(t, dir)
	if want := frontOf(trials); !slices.Equal(sorted(ids), want) || len(ids) == 0 {
		t.Errorf("the front is %v, want %v", ids, want)
	}
	for _, trial := range trials {
		if missing := trial.ID%5 == 0; missing != (trial.State == "failed") || missing && !strings.Contains(trial.Reason, `the task's objective "speed" is missing in the outcome`) {
			t.Errorf("trial %d: %s, %q", trial.ID, trial.State, trial.Reason)
		}
	}
	for _, args := range [][]string{{"best"}, {"status"}} {
		if text := must(t, append(args, "--data-dir", dir)...); !strings.Contains(text, fmt.Sprintf("Pareto front: %d design", len(ids))) || !strings.Contains(text, ", hypervolume ") {
			t.Errorf("%s prints %s", args, text)
		}
	}

	// One design of the front, for a command line.
	best := trials[ids[0]-1]
	var design struct{ X, Y json.Number }
	decode(t, string(best.Parameters), &design)
	flags := must(t, "best", "--data-dir", dir, "--trial", fmt.Sprint(best.ID), "--format", "flags")
	if want := fmt.Sprintf("--x %v --y %v\n", design.X, design.Y); flags != want {
		t.Errorf("flags %q, want %q", flags, want)
	}
	outside := slices.IndexFunc(trials, func(trial trialJSON) bool { return trial.State == "failed" })
	for want, args := range map[string][]string{
		"choose with --trial":                  {"--format", "flags"},
		"expected a trial of the Pareto front": {"--trial", fmt.Sprint(outside + 1), "--format", "flags"},
	} {
		if e := call(t, append([]string{"best", "--data-dir", dir}, args...)...); e.code != base.ExitUsage || !strings.Contains(e.stderr, want) {
			t.Errorf("best %q: %d, %s", args, e.code, e.stderr)
		}
	}

	for name, format := range map[string]string{"past.csv": "csv", "past.json": "json", "past.log": "optuna-journal"} {
		past, other := filepath.Join(t.TempDir(), name), shortTempDir(t)
		must(t, "export", file, past, "--format", format, "--data-dir", dir)
		if _, err := os.Stat(past); err != nil {
			t.Fatal(err)
		}
		e := call(t, join(runLine(file, other, "--import", past, "--evals", "1", "--max-failures", "1", "--wait-for-peers", "0s"), objective("exit"))...)
		if e.code != base.ExitGaveUp {
			t.Fatalf("%s: exit code %d: %s", format, e.code, e.stderr)
		}
		if _, got := frontJSON(t, other); got != values {
			t.Errorf("%s: the front of the imported trials is\n%swant\n%s", format, got, values)
		}
	}
}

// A person reports both objectives; a result without one changes nothing.
func TestTellSeveralObjectives(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", tradeTask), shortTempDir(t)
	startServe(t, dir)
	if text := call(t, "ask", file, "--data-dir", dir).stdout; !strings.Contains(text, "report: fbo-node tell "+file+" 1 VALUE speed=NUMBER --data-dir "+dir) {
		t.Errorf("ask: %s", text)
	}
	e := call(t, "tell", "1", "0.5", "--data-dir", dir)
	if want := `the task's objective "speed" is missing in the outcome; expected a metric of this name; nothing has changed`; e.code != base.ExitUsage || !strings.Contains(e.stderr, want) {
		t.Errorf("tell without speed: %d, %s", e.code, e.stderr)
	}
	if text := must(t, "tell", "1", "0.5", "speed=1", "--data-dir", dir); text != "trial 1 is stored: 0.5, speed=1\non the front; Pareto front: 1 design\n" {
		t.Errorf("tell: %s", text)
	}
	must(t, "ask", "--data-dir", dir)
	if text := must(t, "tell", "2", "0.75", "speed=0.5", "--data-dir", dir); !strings.HasSuffix(text, "\ndominated; Pareto front: 1 design\n") {
		t.Errorf("tell: %s", text)
	}
}
