package trialcmd

import (
	"maps"
	"reflect"
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
		"tell 12 --step -3 -0.5":         "tell 12 --step -3 -- -0.5",
		"tell 12 -0.5 --cost -3":         "tell 12 --cost -3 -- -0.5",
		"--version":                      "--version",
	} {
		if got := strings.Join(SplitNegative(strings.Fields(given)), " "); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}

// given returns a function that reports whether a flag is among these.
func given(flags ...string) func(string) bool {
	return func(flag string) bool { return slices.Contains(flags, flag) }
}

func TestParseReports(t *testing.T) {
	t.Parallel()
	failure, halt, third := tellOptions{failed: "why"}, tellOptions{stopped: true, reason: "no progress"}, tellOptions{step: "3"}
	for _, right := range []struct {
		args string
		of   tellOptions
		flag string
		want report
	}{
		{"12 0.93", tellOptions{}, "", report{trial: 12, value: 0.93}},
		{"bowl 12 -1e-3", tellOptions{}, "", report{task: "bowl", trial: 12, value: -1e-3}},
		{"12 ram=3 0.93 ok=yes", tellOptions{}, "", report{trial: 12, value: 0.93, outputs: map[string]string{"ram": "3", "ok": "yes"}}},
		{"7 12 5", tellOptions{}, "", report{task: "7", trial: 12, value: 5}},
		{"bowl 3", failure, failedFlag, report{task: "bowl", trial: 3, failed: "why"}},
		{"bowl 3", halt, stoppedFlag, report{task: "bowl", trial: 3, stopped: true, reason: "no progress"}},
		{"3", tellOptions{stopped: true}, stoppedFlag, report{trial: 3, stopped: true}},
		{"3 0.5", third, stepFlag, report{trial: 3, step: 3, value: 0.5}},
		{"3 0.5", tellOptions{step: "3", cost: "1.5"}, stepFlag, report{trial: 3, step: 3, value: 0.5}},
		{"3 0.5 cost=2", tellOptions{cost: "1.5"}, costFlag, report{trial: 3, value: 0.5, cost: new(1.5), outputs: map[string]string{"cost": "2"}}},
		{"bowl 3 -1", tellOptions{step: "1000000000"}, stepFlag, report{task: "bowl", trial: 3, step: 1e9, value: -1}},
	} {
		got, err := right.of.parse(strings.Fields(right.args), given(right.flag))
		sameOutputs := maps.Equal(got.outputs, right.want.outputs)
		got.outputs, right.want.outputs = nil, nil
		if err != nil || !sameOutputs || !reflect.DeepEqual(got, right.want) {
			t.Errorf("%s of %+v: %+v, %v; expected %+v", right.args, right.of, got, err, right.want)
		}
	}
	for _, wrong := range []struct {
		of    tellOptions
		flags []string
		want  map[string]string
	}{
		{tellOptions{}, nil, map[string]string{
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
		}},
		{failure, []string{failedFlag}, map[string]string{
			"3 0.5 7": "--failed excludes VALUE",
			"3 a=1":   "--failed excludes NAME=VALUE",
			"":        "the number of the trial is missing",
		}},
		{tellOptions{failed: " "}, []string{failedFlag}, map[string]string{"3": "the reason is empty"}},
		{halt, []string{stoppedFlag, reasonFlag}, map[string]string{
			"3 0.5 7": "--stopped excludes VALUE",
			"3 a=1":   "--stopped excludes NAME=VALUE",
			"":        "the number of the trial is missing",
		}},
		{third, []string{stepFlag}, map[string]string{
			"3":         "the number of the trial or its value is missing",
			"3 0.5 a=1": "--step excludes NAME=VALUE",
			"3 nan":     `value "nan": expected a finite number`,
		}},
		{third, []string{stepFlag, tagFlag}, map[string]string{"3 0.5": "--step excludes --attribute, --tag and --file"}},
		{tellOptions{}, []string{stepFlag}, map[string]string{"3 0.5": `--step "": expected a whole number from 1 to 1000000000`}},
		{tellOptions{step: "-3"}, []string{stepFlag}, map[string]string{"3 0.5": `--step "-3": expected a whole number from 1`}},
		{tellOptions{step: "1.5"}, []string{stepFlag}, map[string]string{"3 0.5": `--step "1.5": expected a whole number from 1`}},
		{tellOptions{step: "1000000001"}, []string{stepFlag}, map[string]string{"3 0.5": "expected a whole number from 1 to 1000000000"}},
		{tellOptions{step: "3", stopped: true}, []string{stepFlag, stoppedFlag}, map[string]string{"3 0.5": "--step, --stopped: expected at most one of these flags"}},
		{tellOptions{cost: "-1"}, []string{costFlag}, map[string]string{"3 0.5": `--cost "-1": expected a finite number of 0 or more`}},
		{tellOptions{cost: "nan"}, []string{costFlag}, map[string]string{"3 0.5": `--cost "nan": expected a finite number of 0 or more`}},
		{tellOptions{cost: "3 s"}, []string{costFlag}, map[string]string{"3 0.5": `--cost "3 s": expected`}},
		{tellOptions{reason: "x"}, []string{reasonFlag}, map[string]string{"3 0.5": "--reason: expected with --stopped"}},
	} {
		for args, want := range wrong.want {
			if _, err := wrong.of.parse(strings.Fields(args), given(wrong.flags...)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q of %+v: %v, expected %s", args, wrong.of, err, want)
			}
		}
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
