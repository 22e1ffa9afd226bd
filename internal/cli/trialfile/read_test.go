package trialfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// checkPast fails on trials that a session would not take.
func checkPast(t *testing.T, space *task.Space, past []agent.Past) {
	t.Helper()
	for _, p := range past {
		if err := space.Check(p.Design); err != nil {
			t.Fatal(err)
		}
		if _, err := strategy.Adding(p.Outcome.Annotations).Apply(strategy.Annotations{}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := p.Steps.Check(); err != nil || (p.Stopped || p.Stop != nil) && len(p.Steps) == 0 {
			t.Fatalf("steps %v, %v", p.Steps, err)
		}
		if math.IsNaN(p.Outcome.Value) || math.IsInf(p.Outcome.Value, 0) {
			t.Fatalf("value %g", p.Outcome.Value)
		}
	}
}

// checkMessage fails on an error that is not one readable line.
func checkMessage(t *testing.T, err error) {
	t.Helper()
	if text := err.Error(); text == "" || strings.Contains(text, "\n") || strings.Contains(text, "interface {}") || strings.Contains(text, "<nil>") {
		t.Fatalf("message %q", text)
	}
}

func parsePastCSV(data []byte, space *task.Space) (_ []agent.Past, err error) {
	var got Imported
	err = columns{space: space, purpose: importing}.readCSV(data, true, got.add(&task.Task{Space: space}, false))
	return got.Trials, err
}

func parsePastJSON(data []byte, space *task.Space) (_ []agent.Past, err error) {
	var got Imported
	err = columns{space: space, purpose: importing}.readJSON(data, got.add(&task.Task{Space: space}, false))
	return got.Trials, err
}

// Suggestions are designs without values, or with values that count for nothing.
func TestSuggestionsFileHasDesignsWithoutValues(t *testing.T) {
	space := clitest.MixedTask(t).Space
	for name, c := range map[string]struct {
		file, text string
		want       int
		message    string
	}{
		"csv":          {"s.csv", "lr,units,kind\n0.1,3,sgd\n0.2,4,sgd\n", 2, ""},
		"with values":  {"s.csv", "lr,units,kind,value\n0.1,3,sgd,1\n0.2,4,sgd,\n", 2, ""},
		"json":         {"s.json", `[{"lr":0.1,"units":3,"kind":"sgd"}]`, 1, ""},
		"history":      {"s.json", `[{"parameters":{"lr":0.1,"units":3,"kind":"sgd"},"state":"failed"}]`, 1, ""},
		"no column":    {"s.csv", "lr,units\n0.1,3\n", 0, "prior-designs: .*s.csv: line 1: columns missing: kind\\z"},
		"no cell":      {"s.csv", "lr,units,kind\n,3,sgd\n", 0, "prior-designs: .*s.csv: line 2: .*\"lr\": no value given; it takes a number from 0.001 to 1\\z"},
		"beyond":       {"s.csv", "lr,units,kind\n7,3,sgd\n", 0, "prior-designs: .*s.csv: line 2: .*lr"},
		"unknown":      {"s.json", `[{"lr":0.1,"units":3,"kind":"magic"}]`, 0, "prior-designs: .*s.json: trial 1: .*magic"},
		"other format": {"s.yaml", "", 0, "prior-designs: .*s.yaml: expected files named .csv, .json or .log"},
	} {
		file := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		designs, err := ReadDesigns("prior-designs", file, space)
		if c.message != "" {
			if err == nil || !regexp.MustCompile(c.message).MatchString(err.Error()) {
				t.Errorf("%s: the error is %v", name, err)
			}
		} else if err != nil || len(designs) != c.want {
			t.Errorf("%s: %d designs, %v", name, len(designs), err)
		}
	}
}

func FuzzParsePastCSV(f *testing.F) {
	for _, text := range []string{
		"", "\ufeff", "lr,units,kind,value\n0.1,3,sgd,1\n", "value,kind,units,lr\r\n-1e9,\"a, \"\"b\"\"\",64,1\r\n",
		"lr,units,kind,value,state\n0.1,3,sgd,,failed\n", "lr,units,kind,value\n0.1,3,sgd\n", "lr,lr\n", "\"", "lr,units,kind,value\nNaN,0x10,7,inf\n",
		"number,value,params_lr,params_units,params_kind,state\n0,1,0.5,3.0,sgd,COMPLETE\n", "lr,units,kind,value,constraint.ram,constraint.\n0.1,3,sgd,1,2,\n",
		"lr,units,kind,value,attribute.commit,attribute.,tags\n0.1,3,sgd,1,abc,,x\n",
		"lr,units,kind,value,state,steps.json,stop.rule,stop.step,stop.reason\n0.1,3,sgd,,stopped,\"[[1,2],[4,1e3]]\",asha,1,x\n",
		"number,value,params_lr,params_units,params_kind,state,intermediate_values_0,intermediate_values_7\n0,1,0.5,3.0,sgd,PRUNED,,2\n",
	} {
		f.Add([]byte(text))
	}
	space := clitest.MixedTask(f).Space
	f.Fuzz(func(t *testing.T, data []byte) {
		past, err := parsePastCSV(data, space)
		if err != nil {
			checkMessage(t, err)
			return
		}
		checkPast(t, space, past)
	})
}

func FuzzParsePastJSON(f *testing.F) {
	for _, text := range []string{
		"", "null", "[]", "[null]", "{}", `[{"lr":0.1,"units":3,"kind":"sgd","value":1}]`, `[{"parameters":{"lr":0.1,"units":3,"kind":"7"},"state":"done","outcome":{"value":-1}}]`,
		`[{"parameters":{"lr":0.1,"units":3,"kind":"7"},"state":"failed","reason":"x"}]`, `[{"lr":"0.1","units":"3","kind":7,"value":"1"}]`, "[{\n]", `[{"value":[1],"lr":{}}]`, `[1] 2`,
		`[{"number":0,"value":1,"params_lr":0.5,"params_units":3,"params_kind":"sgd","state":"COMPLETE"}]`, `[{"lr":0.1,"units":3,"kind":"sgd","value":1,"constraint.ram":2}]`,
		`[{"parameters":{"lr":0.1,"units":3,"kind":"7"},"outcome":{"value":1},"attributes":{"a":"b"},"tags":["c"],"files":[{"path":"d"}],"notes":[{"id":1,"text":"e","time":"2026-03-29T01:59:59Z"}]}]`,
		`[{"parameters":{"lr":0.1,"units":3,"kind":"7"},"state":"stopped","steps":[{"step":1,"value":2}],"stop":{"rule":"program","step":1,"reason":"x"}}]`,
	} {
		f.Add([]byte(text))
	}
	space := clitest.MixedTask(f).Space
	f.Fuzz(func(t *testing.T, data []byte) {
		past, err := parsePastJSON(data, space)
		if err != nil {
			checkMessage(t, err)
			return
		}
		checkPast(t, space, past)
	})
}

func FuzzParsePastJournal(f *testing.F) {
	const study = `{"op_code":0,"worker_id":"w","study_name":"a","directions":[2]}` + "\n" + `{"op_code":2,"study_id":0,"user_attr":{"task_id":"x"}}` + "\n"
	const trial = `{"op_code":4,"worker_id":"w","study_id":0,"state":2,"value":NaN,"params":{"lr":0.5,"units":3.0,"kind":0},"user_attrs":{"metric.a":1,"stop.rule":"asha","tags":["x"]},` +
		`"distributions":{"lr":"{}","units":"{}","kind":"{\"attributes\":{\"choices\":[\"sgd\",null]}}"},"intermediate_values":{"0":1,"7":-Infinity}}` + "\n"
	for _, text := range []string{"", "{}", study, study + trial, study + trial + `{"op_code":4`, study + trial + `{"op_code":7,"trial_id":0,"step":3,"intermediate_value":2}` + "\n" + `{"op_code":1,"study_id":0}`} {
		f.Add([]byte(text))
	}
	of := clitest.MixedTask(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var got Imported
		if err := (columns{space: of.Space, purpose: importing}).readJournal(data, true, got.add(of, false)); err != nil {
			checkMessage(t, err)
		}
		checkPast(t, of.Space, got.Trials)
	})
}

// TestHistoryRoundTrip: what history writes is what the import reads.
func TestHistoryRoundTrip(t *testing.T) {
	kinds, err := all.Strategies().Parse("test.yaml", []byte(`
name: kinds
goal: minimize
parameters:
  - {name: on, type: bool}
  - {name: rate, type: float, low: 0.1, high: 1, step: 0.1}
  - {name: batch, type: int, choices: [16, 32, 64]}
  - {name: c, type: categorical, choices: [0.1, -2, 1e300]}
`))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		parsed := rapid.SampledFrom([]*task.Task{clitest.MixedTask(t), kinds}).Draw(rt, "task")
		p := past.History{Task: parsed}
		var want []agent.Past
		for range rapid.IntRange(0, 5).Draw(rt, "trials") {
			u := rapid.SliceOfN(rapid.Float64Range(0, 1), parsed.Space.Dim(), parsed.Space.Dim()).Draw(rt, "u")
			design := parsed.Space.Decode(u)
			trial := strategy.Trial{ID: uint64(len(p.Trials) + 1), Design: design, Why: strategy.Why{Source: strategy.Own}, Started: time.Unix(0, 0)}
			switch trial.State = rapid.SampledFrom([]strategy.State{strategy.Done, strategy.Failed, strategy.Running, strategy.Waiting}).Draw(rt, "state"); trial.State {
			case strategy.Done:
				trial.Outcome = &strategy.Outcome{Value: rapid.Float64().Draw(rt, "value")}
				if metrics := drawMetrics(rt); len(metrics) > 0 {
					trial.Outcome.Metrics = metrics
				}
				if names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ram", "a, b", "value", "lr", "x.y", ""}), 0, 3, rapid.ID[string]).Draw(rt, "constraints"); len(names) > 0 {
					trial.Outcome.Constraints = map[string]task.Reading{}
					for _, name := range names {
						trial.Outcome.Constraints[name] = rapid.OneOf(rapid.Map(rapid.Float64(), task.Number), rapid.Map(rapid.Bool(), task.Truth)).Draw(rt, "constraint")
					}
				}
				want = append(want, agent.Past{Design: design, Outcome: *trial.Outcome})
			case strategy.Failed:
				trial.Reason = rapid.String().Draw(rt, "reason")
				want = append(want, agent.Past{Design: design, Failed: "as imported"})
			}
			p.Trials = append(p.Trials, trial)
		}
		for name, format := range map[string]struct {
			write func(*bytes.Buffer) error
			read  func([]byte, *task.Space) ([]agent.Past, error)
		}{
			"csv":  {func(b *bytes.Buffer) error { return export.CSV(b, p.Task, p.Trials) }, parsePastCSV},
			"json": {func(b *bytes.Buffer) error { return base.PrintJSON(b, append([]strategy.Trial{}, p.Trials...)) }, parsePastJSON},
		} {
			var file bytes.Buffer
			if err := format.write(&file); err != nil {
				rt.Fatal(err)
			}
			got, err := format.read(file.Bytes(), parsed.Space)
			if err != nil {
				rt.Fatalf("%s: %v in\n%s", name, err, file.String())
			}
			if len(got) != len(want) {
				rt.Fatalf("%s: %d trials, want %d:\n%s", name, len(got), len(want), file.String())
			}
			for i := range got {
				if !got[i].Design.Equal(want[i].Design) || got[i].Failed != want[i].Failed || !reflect.DeepEqual(got[i].Outcome, want[i].Outcome) {
					rt.Fatalf("%s: %v became %v", name, want[i], got[i])
				}
			}
		}
	})
}

func drawMetrics(t *rapid.T) map[string]float64 {
	name := rapid.OneOf(rapid.SampledFrom([]string{"acc", "f1, macro", `"quoted"`, " padded ", "value", "lr"}), rapid.String().Filter(strategy.IsMetricName))
	return rapid.MapOfN(name, rapid.Float64(), 0, 3).Draw(t, "metrics")
}

// TestBadMetricsAreRefused: a file is no reason to record what an outcome cannot have.
func TestBadMetricsAreRefused(t *testing.T) {
	space := clitest.MixedTask(t).Space
	for _, c := range []struct{ text, want string }{
		{`[{"lr":0.1,"units":3,"kind":"sgd","value":1,"metric.acc":"good"}]`, `metric "acc": "good" is not a finite number`},
		{`[{"lr":0.1,"units":3,"kind":"sgd","value":1,"metric.":1}]`, `"" is no name of a metric`},
		{`[{"lr":0.1,"units":3,"kind":"sgd","value":1,"metrics":1}]`, `"metrics" is neither a parameter nor "value"`},
	} {
		if _, err := parsePastJSON([]byte(c.text), space); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.text, err, c.want)
		}
	}
}

// TestConstraintsAreImported: values of constraints survive in JSON.
func TestConstraintsAreImported(t *testing.T) {
	parsed := clitest.MixedTask(t)
	past, err := parsePastJSON([]byte(`[{"parameters":{"lr":0.1,"units":3,"kind":"sgd"},"state":"done","outcome":{"value":1,"constraints":{"ram":2}}}]`), parsed.Space)
	if err != nil || len(past) != 1 || past[0].Outcome.Constraints["ram"] != task.Number(2) {
		data, _ := json.Marshal(past)
		t.Errorf("got %s, %v", data, err)
	}
}

// TestParametersNamedAsColumns: a task may use the words of the history.
func TestParametersNamedAsColumns(t *testing.T) {
	for _, c := range []struct {
		name, header string
		csv          bool // can be read back
	}{
		{"state", "trial,value,state,source,peer,started,finished,reason,peer_count,why", true},
		{"peer", "trial,state,value,peer,source,started,finished,reason,peer_count,why", true},
		{"value", "trial,state,value,value,source,peer,started,finished,reason,peer_count,why", false},
		{"parameters", "trial,state,value,parameters,source,peer,started,finished,reason,peer_count,why", true},
	} {
		parsed, err := all.Strategies().Parse("test.yaml", []byte("name: b\ngoal: minimize\nparameters:\n  - {name: "+c.name+", type: float, low: 0, high: 1}\n"))
		if err != nil {
			t.Fatal(err)
		}
		design, err := parsed.Space.NewDesign(task.FloatValue(0.25))
		if err != nil {
			t.Fatal(err)
		}
		trial := strategy.Trial{ID: 1, Why: strategy.Why{Source: strategy.Own}, State: strategy.Done, Outcome: &strategy.Outcome{Value: 8}}
		trial.Design = design
		var asCSV, asJSON bytes.Buffer
		if err := errors.Join(export.CSV(&asCSV, parsed, []strategy.Trial{trial}), base.PrintJSON(&asJSON, []strategy.Trial{trial})); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(asCSV.String(), c.header+"\n") {
			t.Errorf("%s: header %q", c.name, asCSV.String())
		}
		got, err := parsePastCSV(asCSV.Bytes(), parsed.Space)
		if c.csv && (err != nil || len(got) != 1 || !got[0].Design.Equal(design) || got[0].Outcome.Value != 8) {
			t.Errorf("%s: CSV gave %v, %v", c.name, got, err)
		}
		if !c.csv && (err == nil || !strings.Contains(err.Error(), `a parameter named "value"`)) {
			t.Errorf("%s: CSV gave %v, %v", c.name, got, err)
		}
		got, err = parsePastJSON(asJSON.Bytes(), parsed.Space)
		if err != nil || len(got) != 1 || !got[0].Design.Equal(design) || got[0].Outcome.Value != 8 {
			t.Errorf("%s: JSON gave %v, %v", c.name, got, err)
		}
	}
}

// TestAnnotationsAreImported: the files of export have the annotations, JSON all of them and CSV the
// attributes. Annotations that are not accepted are an error.
func TestAnnotationsAreImported(t *testing.T) {
	space := clitest.MixedTask(t).Space
	const trial = `[{"parameters":{"lr":0.1,"units":3,"kind":"sgd"},"state":"done","outcome":{"value":1},`
	want := strategy.Annotations{
		Attributes: map[string]string{"commit": "abc"}, Tags: []string{"c"}, Files: []strategy.File{{Path: "d"}},
		Notes: []strategy.Note{{ID: 1, Text: "e", Time: time.Date(2026, 3, 29, 1, 59, 59, 0, time.UTC)}},
	}
	past, err := parsePastJSON([]byte(trial+`"attributes":{"commit":"abc"},"tags":["c"],"files":[{"path":"d"}],"notes":[{"id":1,"text":"e","time":"2026-03-29T01:59:59Z"}]}]`), space)
	if err != nil || len(past) != 1 || !strategy.SameAnnotations(past[0].Outcome.Annotations, want) {
		t.Errorf("JSON: %+v, %v", past, err)
	}
	past, err = parsePastCSV([]byte("lr,units,kind,value,attribute.commit,tags\n0.1,3,sgd,1,abc,c\n"), space)
	if err != nil || len(past) != 1 || past[0].Outcome.Annotations.Attributes["commit"] != "abc" {
		t.Errorf("CSV: %+v, %v", past, err)
	}
	for text, message := range map[string]string{
		`"tags":["a\u001b"]}]`:    "is no tag",
		`"tags":{"a":1}}]`:        "tags: object; expected what history --format json writes",
		`"notes":[{"text":""}]}]`: "0 characters",
	} {
		if _, err := parsePastJSON([]byte(trial+text), space); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
