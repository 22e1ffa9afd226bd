package trialcmd

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/clitest"
)

func TestSplitNegative(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"tell 12 -0.5":                   "tell 12 -- -0.5",
		"tell bowl 12 -1e-3 a=1 --json":  "tell bowl 12 a=1 --json -- -1e-3",
		"tell 12 0.5":                    "tell 12 0.5",
		"tell 12 --data-dir d -- -5":     "tell 12 --data-dir d -- -5",
		"run task.yaml --stop-regret -1": "run task.yaml --stop-regret -1",
		"--version":                      "--version",
	} {
		if got := strings.Join(SplitNegative(strings.Fields(given)), " "); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}

func TestParseReports(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]report{
		"12 0.93":              {trial: 12, value: 0.93},
		"bowl 12 -1e-3":        {task: "bowl", trial: 12, value: -1e-3},
		"12 ram=3 0.93 ok=yes": {trial: 12, value: 0.93, outputs: map[string]string{"ram": "3", "ok": "yes"}},
		"7 12 5":               {task: "7", trial: 12, value: 5},
	} {
		got, err := tellOptions{}.parse(strings.Fields(args), false)
		if err != nil || got.task != want.task || got.trial != want.trial || got.value != want.value || !maps.Equal(got.outputs, want.outputs) {
			t.Errorf("%s: %+v, %v", args, got, err)
		}
	}
	got, err := tellOptions{failed: "why"}.parse([]string{"bowl", "3"}, true)
	if err != nil || got.task != "bowl" || got.trial != 3 || got.failed != "why" {
		t.Errorf("a failure: %+v, %v", got, err)
	}
	for args, want := range map[string]string{
		"":              "the number of the trial or its value is missing",
		"12":            "the number of the trial or its value is missing",
		"a b 3 4":       `unexpected: "4"`,
		"0 1":           `trial "0": expected a whole number from 1`,
		"1.5 1":         `trial "1.5": expected a whole number from 1`,
		"1 0,7":         `value "0,7": expected a finite number`,
		"1 nan":         `value "nan": expected a finite number`,
		"1 inf":         `value "inf": expected a finite number`,
		"1 2 a=1 a=2":   `"a" is given twice`,
		"bowl 1 2 3 =4": `unexpected: "3"`,
	} {
		if _, err := (tellOptions{}).parse(strings.Fields(args), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", args, err, want)
		}
	}
	for args, want := range map[string]string{
		"3 0.5 7": "--failed excludes VALUE",
		"3 a=1":   "--failed excludes NAME=VALUE",
		"":        "the number of the trial is missing",
	} {
		if _, err := (tellOptions{failed: "why"}).parse(strings.Fields(args), true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", args, err, want)
		}
	}
	if _, err := (tellOptions{failed: " "}).parse([]string{"3"}, true); err == nil || !strings.Contains(err.Error(), "the reason is empty") {
		t.Errorf("no reason: %v", err)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	of, _ := clitest.Infeasible(t) // with a constraint ram
	o, err := report{value: 2, outputs: map[string]string{"ram": "8", "accuracy": "0.9"}}.outcome(of)
	if err != nil || o.Value != 2 || o.Constraints["ram"].Float() != 8 || o.Metrics["accuracy"] != 0.9 || len(o.Metrics) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, outputs := range []map[string]string{nil, {"rma": "8"}, {"ram": "lots"}, {"ram": "true"}, {"ram": "8", "accuracy": "true"}} {
		if o, err := (report{outputs: outputs}).outcome(of); err == nil {
			t.Errorf("%v: %+v", slices.Collect(maps.Keys(outputs)), o)
		}
	}
}
