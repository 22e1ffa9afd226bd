//go:build unix

package main_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// TestCostEndsRun runs to a budget of cost by commands that print it with the outcome, and reads the
// costs from history, status and a table. A second run has nothing to do.
func TestCostEndsRun(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	command := []string{"--", "sh", "-c", `echo '{"step": 1, "value": 2, "cost": 1.5}'; echo '{"value": 1, "cost": 2.5}'`}
	run := join(runLine(file, dir, "--cost", "10", "--wait-for-peers", "0"), command)
	text := must(t, run...)
	if !strings.Contains(text, "\n--cost 10 ended the run: the evaluations cost 10\n") || !strings.Contains(text, "  cost 2.5  [") {
		t.Errorf("the run prints\n%s", text)
	}
	if text := must(t, run...); !strings.Contains(text, "earlier runs cost 10 of the 10 that --cost allows; nothing was left to do") {
		t.Errorf("the second run prints\n%s", text)
	}
	if text := must(t, "status", file, "--data-dir", dir); !strings.Contains(text, "\nbudget    4 evaluations, cost 10\n") {
		t.Errorf("status prints\n%s", text)
	}
	if text := must(t, "history", file, "--data-dir", dir); !strings.Contains(text, "value  cost  parameters") {
		t.Errorf("history prints\n%s", text)
	}
	table := filepath.Join(t.TempDir(), "trials.csv")
	must(t, "export", file, table, "--data-dir", dir)
	data, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil || len(rows) != 5 || rows[4][slices.Index(rows[0], "cost")] != "2.5" {
		t.Errorf("exported %v, %v", rows, err)
	}
	other := shortTempDir(t)
	if text := must(t, join(runLine(file, other, "--import", table, "--cost", "5", "--wait-for-peers", "0"), command)...); !strings.Contains(text, "--cost 5 ended the run: the evaluations cost 5\n") {
		t.Errorf("with imported trials the run prints\n%s", text)
	}
}

func TestRunWithoutCosts(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	e := call(t, join(runLine(file, dir, "--cost", "10", "--wait-for-peers", "0"), []string{"--", "echo", "1"})...)
	if e.code != base.ExitFailed || !strings.Contains(e.stderr, `--cost 10: the evaluations of this run have ended without a cost; expected a last line such as {"value": 0.25, "cost": 3.5}`) {
		t.Errorf("exit code %d, %s", e.code, e.stderr)
	}
	e = call(t, join(runLine(file, dir, "--cost", "10", "--evals", "4", "--wait-for-peers", "0"), []string{"--", "echo", `{"value": 1, "cost": -3}`})...)
	if e.code != base.ExitDone || !strings.Contains(e.stdout+e.stderr, "the cost is not stored: -3 is negative; expected a finite number of 0 or more") {
		t.Errorf("a wrong cost: exit code %d, %s%s", e.code, e.stdout, e.stderr)
	}
	for given, want := range map[string]string{"0": "--cost 0: expected numbers above 0", "-1": "--cost -1: expected", "nan": "--cost NaN: expected"} {
		if e := call(t, join(runLine(file, dir, "--cost", given), []string{"--", "echo", "1"})...); e.code != base.ExitUsage || !strings.Contains(e.stderr, want) {
			t.Errorf("--cost %s: %d, %s", given, e.code, e.stderr)
		}
	}
}
