package trialfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func spaceOf(t testing.TB, parameters string) *task.Space {
	t.Helper()
	parsed, err := all.Strategies().Parse("test.yaml", []byte("name: a\ngoal: minimize\nparameters:\n"+parameters))
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Space
}

// studySpace is what the study of testdata searched, but for narrower units.
const studySpace = `
  - {name: lr, type: float, low: 0.001, high: 1, scale: log}
  - {name: units, type: int, low: 1, high: 64}
  - {name: kind, type: categorical, choices: [sgd, adam]}
  - {name: batch, type: int, choices: [16, 32, 64]}
  - {name: flag, type: bool}
`

// A data frame of Optuna is read as it is: failed trials have failed, pruned and running ones have no
// result, ints come as 16.0 and bools as True.
func TestImportOfAStudy(t *testing.T) {
	space := spaceOf(t, studySpace)
	f := Flags{File: filepath.Join("testdata", "study.csv"), outside: "skip", ignored: []string{"params_deep"}}
	got, err := f.Read(&task.Task{Space: space})
	if err != nil {
		t.Fatal(err)
	}
	var designs []string
	for _, past := range got.Trials {
		value := render.Exact(past.Outcome.Value)
		if past.Failed != "" {
			value = "failed"
		}
		designs = append(designs, past.Design.String()+" "+value)
	}
	want := "lr=0.017826497151386938 units=47 kind=adam batch=64 flag=false 0.25|" +
		"lr=0.04134759007834719 units=27 kind=sgd batch=16 flag=true 0.5|" +
		"lr=0.004314041792135616 units=17 kind=sgd batch=64 flag=true failed|" +
		"lr=0.5 units=4 kind=adam batch=32 flag=true 0.125"
	if text := strings.Join(designs, "|"); text != want || got.Outside != 1 || got.Unfinished != 2 {
		t.Errorf("%s, %d outside, %d unfinished", text, got.Outside, got.Unfinished)
	}
	if want := `; left out: 1 row outside the space, the first is line 7: column "params_units": task: parameter "units": 400 is not accepted; it takes a whole number from 1 to 64; 2 rows without a result`; got.LeftOut() != want {
		t.Errorf("%s", got.LeftOut())
	}
}

// Unless failures are ignored, failed trials are past trials too, of this program's files as of
// Optuna's; pruned and running ones are none, and failed ones that lack a parameter.
func TestImportOfFailures(t *testing.T) {
	const table = "C,value,state\n0.1,1,done\n0.2,,failed\n,,failed\n0.3,,running\n"
	file := filepath.Join(t.TempDir(), "past.csv")
	if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	own := spaceOf(t, "  - {name: C, type: float, low: 0, high: 1}\n")
	for _, c := range []struct {
		flags        Flags
		space        *task.Space
		done, failed int
	}{
		{Flags{File: file, outside: "error"}, own, 1, 1},
		{Flags{File: filepath.Join("testdata", "study.csv"), outside: "skip", ignored: []string{"params_deep"}}, spaceOf(t, studySpace), 3, 1},
	} {
		for _, failures := range []task.Failures{task.LearnFailures, task.ConstrainFailures, task.IgnoreFailures} {
			if failures == task.ConstrainFailures {
				c.flags.outside = "skip" // for the one that lacks a parameter
			}
			got, err := c.flags.Read(&task.Task{Space: c.space, Failures: failures})
			if err != nil {
				t.Fatal(err)
			}
			failed := 0
			for _, past := range got.Trials {
				if past.Failed != "" {
					failed++
				}
			}
			want := c.failed
			if failures == task.IgnoreFailures {
				want = 0
			}
			if failed != want || len(got.Trials)-failed != c.done {
				t.Errorf("%s, failures %v: %d failed of %d, want %d and %d others", c.flags.File, failures, failed, len(got.Trials), want, c.done)
			}
		}
	}
}

func TestImportFlags(t *testing.T) {
	const csv = "c,loss,note,ram\n0.1,1,x,7\n0.2,2,y,\n"
	const study = "number,values_0,values_1,params_C,state\n0,1,2,0.5,COMPLETE\n1,1,2,,COMPLETE\n"
	const parameter = "  - {name: C, type: float, low: 0, high: 1}\n"
	const two = parameter + "  - {name: dropout, type: float, low: 0, high: 1, step: 0.1}\n"
	for name, c := range map[string]struct {
		parameters, file, text string
		flags                  Flags
		want                   string // designs and values, or the error
	}{
		"mapped":            {parameter, "a.csv", csv, Flags{columns: []string{"value=loss", "C=c", "constraint.ram=ram"}, ignored: []string{"note"}}, "C=0.1 1 ram 7|C=0.2 2"},
		"mapped and own":    {parameter, "a.csv", "value,C,loss,c\n5,0.5,1,0.1\n", Flags{columns: []string{"value=loss", "C=c"}}, "C=0.1 1"},
		"mapped JSON":       {parameter, "a.json", `[{"c": 0.1, "loss": 1}, {"loss": 2, "c": 0.2}]`, Flags{columns: []string{"value=loss", "C=c"}}, "C=0.1 1|C=0.2 2"},
		"renamed history":   {parameter, "a.json", `[{"state": "done", "parameters": {"c": 0.1, "z": 1}, "outcome": {"value": 1}}]`, Flags{columns: []string{"C=c"}, ignored: []string{"z"}}, "C=0.1 1"},
		"default":           {two, "a.csv", "C,value\n0.1,1\n", Flags{defaults: []string{"dropout=0.3"}}, "C=0.1 dropout=0.3 1"},
		"default for some":  {two, "a.csv", "C,value,dropout\n0.1,1,\n0.2,2,0.4\n", Flags{defaults: []string{"dropout=0"}}, "C=0.1 dropout=0 1|C=0.2 dropout=0.4 2"},
		"default in JSON":   {two, "a.json", `[{"C": 0.1, "value": 1}, {"C": 0.2, "value": 2, "dropout": null}]`, Flags{defaults: []string{"dropout=0"}}, "C=0.1 dropout=0 1|C=0.2 dropout=0 2"},
		"objectives":        {parameter, "a.csv", study, Flags{columns: []string{"value=values_1"}, outside: "skip"}, "C=0.5 2"},
		"objective's name":  {parameter, "a.csv", "number,value_loss,params_C,state\n0,1,0.5,COMPLETE\n", Flags{}, "C=0.5 1"},
		"study in JSON":     {parameter, "a.json", `[{"number":0,"value":1,"params_C":0.5,"state":"COMPLETE"},{"number":1,"value":2,"params_C":0.5,"state":"PRUNED"}]`, Flags{}, "C=0.5 1"},
		"study of value":    {"  - {name: value, type: bool}\n", "a.csv", "number,value,params_value,state\n0,1,True,COMPLETE\n", Flags{}, "value=true 1"},
		"index of pandas":   {parameter, "a.csv", ",C,value\n0,0.5,1\n", Flags{}, "C=0.5 1"},
		"outside":           {parameter, "a.csv", "C,value\n7,1\n", Flags{}, `import: FILE: line 2: task: parameter "C": 7 is not accepted; it takes a number from 0 to 1; --import-outside skip leaves such rows out`},
		"outside, skipped":  {parameter, "a.csv", "C,value\n7,1\n0.5,2\n,3\n", Flags{outside: "skip"}, "C=0.5 2"},
		"outside JSON":      {parameter, "a.json", `[{"C": 7, "value": 1}]`, Flags{}, `import: FILE: trial 1: task: parameter "C": 7 is not accepted; it takes a number from 0 to 1; --import-outside skip leaves such rows out`},
		"bad value":         {parameter, "a.csv", "C,value\n7,x\n", Flags{outside: "skip"}, `import: FILE: line 2: value: "x" is not a finite number`},
		"bad constraint":    {parameter, "a.csv", "C,value,constraint.ram\n0.5,1,x\n", Flags{}, `import: FILE: line 2: constraint "ram": "x" is not a finite number`},
		"which objective":   {parameter, "a.csv", study, Flags{}, `import: FILE: line 1: columns missing: value; --import-columns value=COLUMN says which it is, of number, values_0, values_1, params_C, state`},
		"two headers":       {parameter, "a.csv", ",number,value,params,params,state\n,,,C,D,\n0,0,1,0.5,1,COMPLETE\n", Flags{}, `import: FILE: line 1: this is a data frame of Optuna with two lines of columns; expected what trials_dataframe() gives without multi_index`},
		"unknown parameter": {parameter, "a.csv", "number,value,params_c,state\n", Flags{}, `import: FILE: line 1: column "params_c" is neither a parameter nor "value"; --import-ignore params_c leaves it out, --import-columns NAME=params_c says what it is`},
		"missing":           {two, "a.csv", "C,value\n", Flags{}, `import: FILE: line 1: columns missing: dropout; --import-columns dropout=COLUMN says which it is, --import-default dropout=VALUE what it was in all rows`},
		"no such column":    {parameter, "a.csv", "C,value\n", Flags{columns: []string{"C=c"}}, `import: FILE: line 1: there is no column "c" to hold the parameter C; the columns are C, value`},
		"unknown name":      {parameter, "a.csv", csv, Flags{columns: []string{"D=c"}}, `--import-columns D=c: "D" is neither a parameter nor value, state, steps.json, constraint.NAME, metric.NAME or attribute.NAME`},
		"no pair":           {parameter, "a.csv", csv, Flags{columns: []string{"loss"}}, `--import-columns "loss": expected NAME=COLUMN, as in value=loss`},
		"named twice":       {parameter, "a.csv", csv, Flags{columns: []string{"C=c", "value=c"}}, `--import-columns value=c: the parameter C is in column "c" already`},
		"two columns":       {parameter, "a.csv", csv, Flags{columns: []string{"C=c", "C=note"}}, `--import-columns C=note: the parameter C is in column "c" already`},
		"no default":        {two, "a.csv", csv, Flags{defaults: []string{"dropout"}}, `--import-default "dropout": expected NAME=VALUE, as in dropout=0`},
		"default twice":     {two, "a.csv", csv, Flags{defaults: []string{"dropout=0", "dropout=1"}}, `--import-default dropout=1: "dropout" has a default already`},
		"default outside":   {two, "a.csv", csv, Flags{defaults: []string{"dropout=0.25"}}, `--import-default dropout=0.25: task: parameter "dropout": 0.25 is not accepted; it takes a number from 0 to 1 in steps of 0.1`},
		"unknown default":   {two, "a.csv", csv, Flags{defaults: []string{"drop=0"}}, `--import-default drop=0: task: unknown parameter "drop"; accepted: C, dropout`},
		"no file":           {parameter, "", "", Flags{columns: []string{"C=c"}}, `--import-columns, --import-ignore, --import-default and --import-outside go with --import FILE`},
	} {
		if c.flags.outside == "" {
			c.flags.outside = "error"
		}
		if c.file != "" {
			c.flags.File = filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(c.flags.File, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := c.flags.Read(&task.Task{Space: spaceOf(t, c.parameters)})
		var parts []string
		for _, past := range got.Trials {
			text := past.Design.String() + " " + render.Exact(past.Outcome.Value)
			for name, v := range past.Outcome.Constraints {
				text += " " + name + " " + v.String()
			}
			parts = append(parts, text)
		}
		text := strings.Join(parts, "|")
		if err != nil {
			text = strings.ReplaceAll(err.Error(), c.flags.File, "FILE")
			if c.file == "" {
				text = err.Error()
			}
			var usage base.UsageError
			if !errors.As(err, &usage) {
				t.Errorf("%s: %v is no usage error", name, err)
			}
		}
		if text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, text, c.want)
		}
	}
}
