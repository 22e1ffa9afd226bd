//go:build unix

package main_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

const mixedTask = `name: mixed
goal: maximize
parameters:
  - {name: lr, type: float, low: 0.001, high: 1, scale: log}
  - {name: units, type: int, low: 1, high: 64}
  - {name: kind, type: categorical, choices: [sgd, "a, b", "7"]}
surrogate: {features: 64}
`

func importLine(file, dir, past string, evals string, flags ...string) []string {
	return join(runLine(file, dir, append(flags, "--json", "--import", past, "--evals", evals)...), objective("bowl"))
}

func TestImportReadsCSVAndJSON(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", mixedTask)
	for name, text := range map[string]string{
		"past.csv":  "value, lr, units, kind\n0.5, 0.1, 3, sgd\n-1e3, 1, 64, \"a, b\"\n",
		"bom.csv":   "\ufeffkind,units,lr,value\r\nsgd,3,0.1,0.5\r\n\"a, b\",64,1,-1000\r\n",
		"past.json": `[{"value": 0.5, "lr": 0.1, "units": 3, "kind": "sgd"}, {"value": -1000, "lr": 1, "units": 64, "kind": "a, b"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := shortTempDir(t)
			past := writeFile(t, name, text)
			for _, want := range []event{{Added: 2}, {Known: 2}} {
				p := start(t, importLine(file, dir, past, "1")...)
				e := p.await(t, "the import", isEvent("imported"))
				summary := p.await(t, "the end", isEvent("summary"))
				if p.wait(t) != base.ExitDone || e.Added != want.Added || e.Known != want.Known || summary.Imported != 2 || summary.Evaluations != 1 {
					t.Errorf("imported %+v, summary %+v", e, summary)
				}
			}
			trials := historyOf(t, dir)
			if len(trials) != 3 || trials[1].Outcome.Value != -1000 || trials[0].Why.Source != "imported" || !strings.Contains(string(trials[1].Parameters), "a, b") {
				t.Errorf("history %+v", trials)
			}
		})
	}
}

// TestHistoryCanBeImported takes what history wrote, failed trials included, to
// another data directory.
func TestHistoryCanBeImported(t *testing.T) {
	t.Parallel()
	file, origin := writeFile(t, "task.yaml", mixedTask), shortTempDir(t)
	call(t, join(runLine(file, origin, "--evals", "3"), objective("sometimes"))...)
	original := historyOf(t, origin)
	for _, format := range []string{"csv", "json"} {
		path := filepath.Join(shortTempDir(t), "past."+format)
		written := must(t, "history", "--format", format, "--data-dir", origin)
		if err := os.WriteFile(path, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		dir := shortTempDir(t)
		p := start(t, importLine(file, dir, path, "1")...)
		if e := p.await(t, "the import", isEvent("imported")); e.Added != len(original) {
			t.Errorf("%s: %d trials imported, want %d", format, e.Added, len(original))
		}
		p.wait(t)
		imported := historyOf(t, dir)
		for i, trial := range original {
			got := imported[i]
			if got.State != trial.State || trial.Outcome != nil && got.Outcome.Value != trial.Outcome.Value || string(got.Parameters) != string(trial.Parameters) {
				t.Errorf("%s: trial %+v became %+v", format, trial, got)
			}
		}
	}
}

func TestBadImportChangesNothing(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", mixedTask), shortTempDir(t)
	must(t, join(runLine(file, dir, "--evals", "1"), objective("bowl"))...)
	before := must(t, "history", "--json", "--data-dir", dir)
	const good = "lr,units,kind,value\n0.1,3,sgd,1\n"
	for _, c := range []struct{ name, text, want string }{
		{"a.csv", "", `the file is empty; its first line must name the columns`},
		{"b.csv", good + "0.1,3,sgd,two\n", `line 3: value: "two" is not a finite number`},
		{"c.csv", good + "0.1,3,sgd,NaN\n", `line 3: value: "NaN" is not a finite number`},
		{"d.csv", good + "0.1,3,sgd,\n", `line 3: value: .*`},
		{"e.csv", good + "7,3,sgd,1\n", `line 3: .*"lr": 7 is not accepted; it takes a number from 0.001 to 1; --import-outside skip leaves such rows out`},
		{"f.csv", good + "0.1,2.5,sgd,1\n", `line 3: .*"units": 2.5 is not accepted; it takes a whole number from 1 to 64; --import-outside skip leaves such rows out`},
		{"g.csv", good + "0.1,3,adam,1\n", `line 3: .*"kind": "adam" is not accepted; it takes one of "sgd", "a, b", "7"; --import-outside skip leaves such rows out`},
		{"h.csv", good + "0.1,3\n", `.*line 3: .*wrong number of fields`},
		{"i.csv", "lr,units,value\n0.1,3,1\n", `line 1: columns missing: kind; --import-columns kind=COLUMN .* --import-default kind=VALUE .*`},
		{"j.csv", "lr,units,kind,value,lr\n", `line 1: column "lr" stands twice`},
		{"k.csv", "lr,units,kind,value,remark\n", `line 1: column "remark" is neither a parameter nor "value"; --import-ignore remark leaves it out, --import-columns NAME=remark says what it is`},
		{"l.csv", good + "\"0.1\n", `.*line 3.*`},
		{"a.json", ``, `the file is empty.*`},
		{"b.json", `{"lr": 1}`, `expected an array of objects`},
		{"c.json", `[{"lr": 1, "units": 1, "kind": "sgd"}]`, `trial 1: value: missing`},
		{"d.json", `[{"lr": 1, "units": 1, "kind": "sgd", "value": null}]`, `trial 1: value: missing`},
		{"e.json", `[{"lr": 1, "units": 1, "kind": "sgd", "value": 1}, {"lr": 1, "kind": "sgd", "value": 1}]`, `trial 2: .*"units": no value given; .*`},
		{"f.json", `[{"lr": 1, "units": 1, "kind": 7, "value": 1}]`, `trial 1: .*"kind": 7 is not accepted; .*`},
		{"g.json", `[{"lr": 1, "units": 1, "kind": "sgd", "remark": 2, "value": 1}]`, `trial 1: "remark" is neither a parameter nor "value"; --import-ignore remark .*`},
		{"h.json", `[{"state": "done", "parameters": {"lr": 1, "units": 1, "kind": "sgd", "z": 2}, "outcome": {"value": 1}}]`, `trial 1: "z" is neither a parameter nor "value"; --import-ignore z .*`},
		{"i.json", "[{\"lr\": 1},\n{lr}]", `line 2: .*`},
		{"j.json", `[] []`, `something follows the array`},
		{"k.json", `null`, `expected an array of objects`},
	} {
		past := writeFile(t, c.name, c.text)
		e := call(t, importLine(file, dir, past, "9")...)
		pattern := `\Afbo-node: import: ` + regexp.QuoteMeta(past) + ": " + c.want + `\n\z`
		if e.code != base.ExitUsage || !regexp.MustCompile(pattern).MatchString(e.stderr) || e.stdout != "" {
			t.Errorf("%s: exit code %d\n%swant\n%s", c.name, e.code, e.stderr, c.want)
		}
	}
	if after := must(t, "history", "--json", "--data-dir", dir); after != before {
		t.Errorf("the history was\n%sand is\n%s", before, after)
	}
}

// TestImportSaysWhatItLeavesOut reads the data frame of a study as Optuna writes it.
func TestImportSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", "name: study\ngoal: minimize\nparameters:"+studied)
	line := []string{"--import", "../../internal/cli/trialfile/testdata/study.csv", "--import-ignore", "params_deep", "--evals", "1"}
	e := call(t, join(runLine(file, shortTempDir(t), line...), objective("steady"))...)
	if e.code != base.ExitUsage || !strings.Contains(e.stderr, `line 7: column "params_units": `) || !strings.Contains(e.stderr, "--import-outside skip leaves such rows out") {
		t.Errorf("exit code %d\n%s", e.code, e.stderr)
	}
	out := must(t, join(runLine(file, shortTempDir(t), append(line, "--import-outside", "skip")...), objective("steady"))...)
	if want := "4 past trials imported from ../../internal/cli/trialfile/testdata/study.csv, 0 known already; left out: 1 row outside the space, the first is line 7: "; !strings.Contains(out, want) ||
		!strings.Contains(out, "; 2 rows without a result\n") {
		t.Errorf("%s\nwant %s", out, want)
	}
}

// TestConstraintsSurviveCSV: what trials say of constraints goes with their values
// from one data directory to another.
func TestConstraintsSurviveCSV(t *testing.T) {
	t.Parallel()
	file, origin := writeFile(t, "task.yaml", mixedTask), shortTempDir(t)
	must(t, join(runLine(file, origin, "--evals", "3"), []string{"--", "/bin/sh", "-c", `echo "{\"value\": {lr}, \"constraints\": {\"ram\": {units}, \"a, b\": -0.1} }"`})...)
	past := filepath.Join(shortTempDir(t), "past.csv")
	if err := os.WriteFile(past, []byte(must(t, "history", "--format", "csv", "--data-dir", origin)), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := shortTempDir(t)
	must(t, importLine(file, dir, past, "1")...)
	want, got := historyOf(t, origin), historyOf(t, dir)
	for i, trial := range want {
		if len(trial.Outcome.Constraints) != 2 || !maps.Equal(got[i].Outcome.Constraints, trial.Outcome.Constraints) {
			t.Errorf("%+v became %+v", trial.Outcome, got[i].Outcome)
		}
	}
}

// TestKindsReachTheCommand: bools, steps and numbers come as they are in arguments,
// variables and FBO_PARAMS, and show so in the history.
func TestKindsReachTheCommand(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", `name: kinds
goal: minimize
parameters:
  - {name: on, type: bool}
  - {name: rate, type: float, low: 0.1, high: 1, step: 0.1}
  - {name: batch, type: int, choices: [16, 32, 64]}
  - {name: code, type: categorical, choices: [7, 0.5]}
`)
	dir, seen := shortTempDir(t), filepath.Join(shortTempDir(t), "seen")
	must(t, join(runLine(file, dir, "--evals", "12"), []string{"--", "/bin/sh", "-c",
		`echo "{on} {rate} {batch} {code} $FBO_PARAM_ON $FBO_PARAM_RATE $FBO_PARAM_BATCH $FBO_PARAM_CODE $FBO_PARAMS" >> ` + seen + `; echo {rate}`})...)
	text, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	values := `(true|false) (0\.[1-9]|1) (16|32|64) (7|0\.5)`
	params := `\{"on":(true|false),"rate":(0\.[1-9]|1),"batch":(16|32|64),"code":(7|0\.5)\}`
	for i, line := range lines {
		if !regexp.MustCompile(`^` + values + ` ` + values + ` ` + params + `$`).MatchString(line) {
			t.Errorf("trial %d: %s", i+1, line)
		}
	}
	csv := strings.Split(must(t, "history", "--format", "csv", "--data-dir", dir), "\n")
	for i, trial := range historyOf(t, dir) {
		fields := strings.Fields(lines[i])
		if !strings.HasSuffix(lines[i], " "+string(trial.Parameters)) || !strings.Contains(csv[i+1], ","+strings.Join(fields[:4], ",")+",") {
			t.Errorf("trial %d: %s\n%s\n%s", i+1, lines[i], trial.Parameters, csv[i+1])
		}
	}
	check := must(t, "task", "check", file)
	for _, want := range []string{"on: true or false", "rate: float from 0.1 to 1 in steps of 0.1", "batch: int, one of 16, 32, 64, in this order", "code: one of 7, 0.5"} {
		if !strings.Contains(check, "parameter   "+want+"\n") {
			t.Errorf("task check does not say %q:\n%s", want, check)
		}
	}
}

// studied has the parameters of the study in trialfile's testdata, but for narrower units.
const studied = `
  - {name: lr, type: float, low: 0.001, high: 1, scale: log}
  - {name: units, type: int, low: 1, high: 64}
  - {name: kind, type: categorical, choices: [sgd, adam]}
  - {name: batch, type: int, choices: [16, 32, 64]}
  - {name: flag, type: bool}
`
