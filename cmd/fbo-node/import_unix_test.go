//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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

func TestImport(t *testing.T) {
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
				if p.wait(t) != exitDone || e.Added != want.Added || e.Known != want.Known || summary.Imported != 2 || summary.Evaluations != 1 {
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
		if e := p.await(t, "the import", isEvent("imported")); e.Added != 3 {
			t.Errorf("%s: %d trials imported, want 3", format, e.Added)
		}
		p.wait(t)
		i := 0
		for _, trial := range original {
			if trial.Outcome == nil {
				continue
			}
			got := historyOf(t, dir)[i]
			if got.Outcome.Value != trial.Outcome.Value || string(got.Parameters) != string(trial.Parameters) {
				t.Errorf("%s: trial %+v became %+v", format, trial, got)
			}
			i++
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
		{"e.csv", good + "7,3,sgd,1\n", `line 3: .*"lr": 7 is not accepted; it takes a number from 0.001 to 1`},
		{"f.csv", good + "0.1,2.5,sgd,1\n", `line 3: .*"units": 2.5 is not accepted; it takes a whole number from 1 to 64`},
		{"g.csv", good + "0.1,3,adam,1\n", `line 3: .*"kind": "adam" is not accepted; it takes one of "sgd", "a, b", "7"`},
		{"h.csv", good + "0.1,3\n", `.*line 3: .*wrong number of fields`},
		{"i.csv", "lr,units,value\n0.1,3,1\n", `line 1: columns missing: kind`},
		{"j.csv", "lr,units,kind,value,lr\n", `line 1: column "lr" stands twice`},
		{"k.csv", "lr,units,kind,value,note\n", `line 1: column "note" is neither a parameter nor "value"`},
		{"l.csv", good + "\"0.1\n", `.*line 3.*`},
		{"a.json", ``, `the file is empty.*`},
		{"b.json", `{"lr": 1}`, `accepted is an array of objects`},
		{"c.json", `[{"lr": 1, "units": 1, "kind": "sgd"}]`, `trial 1: value: missing`},
		{"d.json", `[{"lr": 1, "units": 1, "kind": "sgd", "value": null}]`, `trial 1: value: missing`},
		{"e.json", `[{"lr": 1, "units": 1, "kind": "sgd", "value": 1}, {"lr": 1, "kind": "sgd", "value": 1}]`, `trial 2: .*"units": no value given; .*`},
		{"f.json", `[{"lr": 1, "units": 1, "kind": 7, "value": 1}]`, `trial 1: .*"kind": 7 is not accepted; .*`},
		{"g.json", `[{"lr": 1, "units": 1, "kind": "sgd", "note": 2, "value": 1}]`, `trial 1: "note" is neither a parameter nor "value"`},
		{"h.json", `[{"state": "done", "parameters": {"lr": 1, "units": 1, "kind": "sgd", "z": 2}, "outcome": {"value": 1}}]`, `trial 1: "z" is neither a parameter nor "value"`},
		{"i.json", "[{\"lr\": 1},\n{lr}]", `line 2: .*`},
		{"j.json", `[] []`, `something follows the array`},
		{"k.json", `null`, `accepted is an array of objects`},
	} {
		past := writeFile(t, c.name, c.text)
		e := call(t, importLine(file, dir, past, "9")...)
		pattern := `\Afbo-node: import: ` + regexp.QuoteMeta(past) + ": " + c.want + `\n\z`
		if e.code != exitUsage || !regexp.MustCompile(pattern).MatchString(e.stderr) || e.stdout != "" {
			t.Errorf("%s: exit code %d\n%swant\n%s", c.name, e.code, e.stderr, c.want)
		}
	}
	if after := must(t, "history", "--json", "--data-dir", dir); after != before {
		t.Errorf("the history was\n%sand is\n%s", before, after)
	}
}
