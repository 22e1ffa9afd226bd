//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

const limitsTask = `name: limits
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
constraints:
  - {name: right, low: 1}
  - {name: up, low: -0.5, high: 0.5}
surrogate: {features: 64}
`

// Three nodes on a task with two constraints. One is killed and started again: all that
// it said of a trial before is in its history, and feasible is what keeps both limits as
// measured. An evaluation that leaves out a constraint fails by its name.
func TestKilledNodeKeepsConstraints(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", limitsTask)
	first := start(t, join(runLine(file, shortTempDir(t), "--json"), objective("limits"))...)
	peer := first.address(t)
	third := start(t, join(runLine(file, shortTempDir(t), "--json", "--peer", peer), objective("limits"))...)
	dir := shortTempDir(t)
	line := join(runLine(file, dir, "--json", "--peer", peer, "--evals", "16"), objective("limits"))
	victim := start(t, line...)
	victim.await(t, "its sixth trial", func(e event) bool { return e.Event == "trial_finished" && e.Trial.ID == 6 })
	victim.signal(t, syscall.SIGKILL)
	victim.wait(t)
	printed := victim.of("trial_finished")

	victim = start(t, line...)
	if code := victim.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d: %s", code, victim.stderr.String())
	}
	trials := historyOf(t, dir)
	for _, e := range printed {
		if trial := trials[e.Trial.ID-1]; !reflect.DeepEqual(trial.Outcome, e.Trial.Outcome) || trial.Reason != e.Trial.Reason {
			t.Errorf("trial %d: said %+v, in the history %+v", e.Trial.ID, e.Trial, trial)
		}
	}
	var raw []struct {
		ID       uint64
		Violated []string
	}
	if err := json.Unmarshal([]byte(must(t, "history", "--json", "--data-dir", dir)), &raw); err != nil {
		t.Fatal(err)
	}
	done := 0
	for i, trial := range trials {
		if trial.ID%5 == 0 {
			if trial.State != "failed" || !strings.Contains(trial.Reason, `the task's constraint "up" is missing in the outcome`) {
				t.Errorf("trial %d: %s, %q", trial.ID, trial.State, trial.Reason)
			}
			continue
		}
		done++
		var violated []string
		right, up := trial.Outcome.Constraints["right"].Float(), trial.Outcome.Constraints["up"].Float()
		if right < 1 {
			violated = append(violated, "right")
		}
		if up < -0.5 || up > 0.5 {
			violated = append(violated, "up")
		}
		if !slices.Equal(raw[i].Violated, violated) {
			t.Errorf("trial %d: right %g, up %g, violated %v", trial.ID, right, up, raw[i].Violated)
		}
	}
	if done != 16 {
		t.Errorf("%d outcomes, want 16", done)
	}
	best := must(t, "best", "--json", "--data-dir", dir)
	if best := statusOf(t, dir).Best; best == nil || best.Outcome.Constraints["right"].Float() < 1 {
		t.Errorf("best %+v", best)
	}
	if table := must(t, "history", "--data-dir", dir); !strings.Contains(table, "feasible") || !strings.Contains(table, "no: ") || !strings.Contains(table, "yes") {
		t.Errorf("history\n%s", table)
	}

	// What a node has exported another takes over, and one row less is an error.
	csv := must(t, "history", "--format", "csv", "--data-dir", dir)
	other := shortTempDir(t)
	must(t, join(runLine(file, other, "--evals", "0", "--import", writeFile(t, "past.csv", csv)), objective("limits"))...)
	if again := must(t, "best", "--json", "--data-dir", other); fmt.Sprint(valueOf(t, again)) != fmt.Sprint(valueOf(t, best)) {
		t.Errorf("best %s, imported %s", best, again)
	}
	e := call(t, join(runLine(file, shortTempDir(t), "--evals", "0", "--import", writeFile(t, "less.csv", "x,y,value,constraint.right\n1,0,3,1\n")), objective("limits"))...)
	if e.code == base.ExitDone || !strings.Contains(e.stderr, `the task's constraint "up" is missing in the outcome`) {
		t.Errorf("exit code %d, %q", e.code, e.stderr)
	}
	for _, p := range []*process{first, third} {
		p.signal(t, syscall.SIGINT)
		if code := p.wait(t); code != base.ExitDone {
			t.Errorf("a peer ended with code %d: %s", code, p.stderr.String())
		}
	}
}

func valueOf(t *testing.T, trial string) float64 {
	t.Helper()
	var parsed shownTrial
	decode(t, trial, &parsed)
	return parsed.Outcome.Value
}

const truthsTask = `name: truths
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
constraints: [{name: sound, type: bool}]
failures: constraint
surrogate: {features: 64}
`

// What is true or false, and failures that count, in a run that goes on after its end: the
// history says the same before and after, and the table says what is false.
func TestTruthsAndFailures(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", truthsTask), shortTempDir(t)
	checked := must(t, "task", "check", file)
	for _, want := range []string{"sound: must be true; evaluations report true or false", "failures    a constraint: ", "(constrained-gp)"} {
		if !strings.Contains(checked, want) {
			t.Errorf("task check lacks %q:\n%s", want, checked)
		}
	}
	unsound := writeFile(t, "first.csv", "x,y\n1,1\n")
	must(t, join(runLine(file, dir, "--evals", "6", "--max-failures", "60", "--enqueue", unsound), objective("truths"))...)
	before := historyOf(t, dir)
	must(t, join(runLine(file, dir, "--evals", "12", "--max-failures", "60"), objective("truths"))...)
	trials := historyOf(t, dir)
	if !reflect.DeepEqual(before, trials[:len(before)]) {
		t.Error("the first trials have changed")
	}
	failed, violated := 0, 0
	for _, trial := range trials {
		switch {
		case trial.ID%5 == 0 || trial.State == "failed":
			failed++
			if trial.State != "failed" || !strings.Contains(trial.Reason, "diverged") && !strings.Contains(trial.Reason, `constraint "sound" is 0.5, expected true and false`) {
				t.Errorf("trial %d: %s, %q", trial.ID, trial.State, trial.Reason)
			}
		case !trial.Outcome.Constraints["sound"].IsTruth():
			t.Errorf("trial %d: sound is %v", trial.ID, trial.Outcome.Constraints["sound"])
		case trial.Outcome.Constraints["sound"].Float() == 0:
			violated++
		}
	}
	if len(trials)-failed != 12 || violated == 0 {
		t.Errorf("%d trials, %d failed, %d unsound", len(trials), failed, violated)
	}
	if best := statusOf(t, dir).Best; best == nil || best.Outcome.Constraints["sound"].Float() != 1 {
		t.Errorf("best %+v", best)
	}
	if table := must(t, "history", "--data-dir", dir); !strings.Contains(table, "no: sound=false") {
		t.Errorf("history\n%s", table)
	}
}
