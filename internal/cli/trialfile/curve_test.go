package trialfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// described is a past trial in a line.
func described(p agent.Past) string {
	text := p.Design.String()
	switch {
	case p.Stopped:
		text += fmt.Sprintf(" stopped by %s at %d: %s", p.Stop.Rule, p.Stop.Step, p.Stop.Reason)
	case p.Failed != "":
		text += " failed"
	default:
		text += fmt.Sprintf(" %g", p.Outcome.Value)
	}
	if p.Outcome.Cost != nil {
		text += fmt.Sprintf(" cost %g", *p.Outcome.Cost)
	}
	for _, s := range p.Steps {
		text += fmt.Sprintf(" %d:%.3f", s.Step, s.Value)
	}
	return text
}

// A study with pruned trials is read from Optuna's journal as from its data frames with intermediate
// values. Its steps begin with 0; NaN is left out, and so are pruned trials without values by step.
func TestImportOfPrunedTrials(t *testing.T) {
	want := []string{
		"lr=0.017826497151386938 units=47 kind=adam batch=64 flag=false 0.25 1:0.982 3:0.994",
		"lr=0.00263730777909246 units=13 kind=adam batch=64 flag=true stopped by program at 1: as imported 1:0.997",
		"lr=0.0013096774493777602 units=11 kind=sgd batch=32 flag=true failed 1:0.999 2:0.999",
		"lr=0.11468398705751574 units=54 kind=adam batch=16 flag=true 1.25 1:0.885 2:0.943 3:0.962",
	}
	for _, file := range []string{"journal.log", "frame.csv"} {
		got, err := Flags{File: filepath.Join("testdata", file), outside: "error"}.Read(&task.Task{Space: spaceOf(t, studySpace), Goal: task.Minimize})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var lines []string
		for _, p := range got.Trials {
			lines = append(lines, described(p))
		}
		if !reflect.DeepEqual(lines, want) || got.Unfinished != 2 {
			t.Errorf("%s: %d unfinished, and\n%s", file, got.Unfinished, strings.Join(lines, "\n"))
		}
	}
}

// A data frame as JSON has null in place of what is missing, and each row the columns of all.
func TestImportOfPrunedTrialsInJSON(t *testing.T) {
	past, err := parsePastJSON([]byte(`[{"number":0,"value":2,"params_C":0.5,"state":"PRUNED","intermediate_values_0":null,"intermediate_values_5":2},
		{"number":1,"value":1,"params_C":0.25,"state":"COMPLETE","intermediate_values_0":3,"intermediate_values_5":null}]`), spaceOf(t, "  - {name: C, type: float, low: 0, high: 1}\n"))
	if err != nil || len(past) != 2 || described(past[0]) != "C=0.5 stopped by program at 6: as imported 6:2.000" || described(past[1]) != "C=0.25 1 1:3.000" {
		t.Errorf("%v, %v", past, err)
	}
}

func TestJournalsThatAreRefused(t *testing.T) {
	const study = `{"op_code":0,"worker_id":"w","study_name":"one","directions":[1]}` + "\n"
	const trial = `{"op_code":4,"worker_id":"w","study_id":0,"state":1,"value":1.0,"params":{"C":0.5},"distributions":{"C":"{\"name\":\"FloatDistribution\",\"attributes\":{\"low\":0,\"high\":1}}"},"intermediate_values":{"3":NaN,"4":2.0}}` + "\n"
	space := spaceOf(t, "  - {name: C, type: float, low: 0, high: 1}\n")
	for name, c := range map[string]struct{ text, want string }{
		"one trial":        {study + trial, "C=0.5 1 4:2.000"},
		"incomplete end":   {study + trial + `{"op_code":4,"wor`, "C=0.5 1 4:2.000"},
		"cost":             {study + strings.Replace(trial, `"intermediate`, `"user_attrs":{"fbo:cost":3.5},"intermediate`, 1), "C=0.5 1 cost 3.5 4:2.000"},
		"named as task":    {strings.Replace(study, "one", "other", 1) + study + strings.Replace(trial, `"study_id":0`, `"study_id":1`, 1), "C=0.5 1 4:2.000"},
		"deleted":          {strings.Replace(study, "one", "other", 1) + `{"op_code":1,"study_id":0}` + "\n" + study + strings.Replace(trial, `"study_id":0`, `"study_id":1`, 1), "C=0.5 1 4:2.000"},
		"after the end":    {study + trial + `{"op_code":7,"trial_id":0,"step":9,"intermediate_value":1}` + "\n" + `{"op_code":6,"trial_id":0,"state":3,"values":null}` + "\n", "C=0.5 1 4:2.000"},
		"unknown study":    {study + trial + strings.Replace(trial, `"study_id":0`, `"study_id":7`, 1), "C=0.5 1 4:2.000"},
		"several studies":  {strings.Replace(study, "one", "a", 1) + strings.Replace(study, "one", "b", 1), "the journal has 2 studies: a, b; expected one, or one with the name of the task"},
		"none":             {"", "the journal has no study"},
		"no parameter":     {study, `no trial of the study "one" has a parameter`},
		"other goal":       {strings.Replace(study, "[1]", "[2]", 1) + trial, `the study "one" does not minimize, as the task does`},
		"several goals":    {strings.Replace(study, "[1]", "[1,1]", 1) + trial, "columns missing: value; --import-columns value=COLUMN says which it is, of number, state, values_0, values_1, params_C"},
		"no JSON":          {study + "x\n" + trial, "line 2: no record of an Optuna journal: invalid character 'x' looking for beginning of value"},
		"no journal":       {"epoch 1: 0.5\n", "line 1: no record of an Optuna journal: invalid character 'e' looking for beginning of value"},
		"bad state":        {study + strings.Replace(trial, `"state":1`, `"state":9`, 1), "line 2: state 9; expected 0 to 4"},
		"no object":        {"3\n", "line 1: no record of an Optuna journal: value: number; expected what Optuna writes"},
		"no attribute":     {study + `{"op_code":8,"trial_id":0,"user_attr":"x"}` + "\n" + trial, "line 2: no record of an Optuna journal: user_attr: string; expected what Optuna writes"},
		"bad step":         {study + strings.Replace(trial, `"4":`, `"a":`, 1), `line 2: step "a"; expected a whole number`},
		"bad choice":       {study + strings.ReplaceAll(trial, `\"low\":0`, `\"choices\":[1]`), `line 2: parameter "C": choice 0.5; expected 0 to 0`},
		"no distribution":  {study + strings.Replace(trial, `"distributions":{"C"`, `"distributions":{"D"`, 1), `line 2: parameter "C": distribution: unexpected end of JSON input`},
		"other parameter":  {study + strings.ReplaceAll(trial, `"C"`, `"D"`), `column "params_D" is neither a parameter nor "value"; --import-ignore params_D leaves it out, --import-columns NAME=params_D says what it is`},
		"a step too large": {study + strings.Replace(trial, `"4":`, `"2000000000":`, 1), "trial 0 of the study: step value is not accepted: step 2000000000; expected 1 to 1000000000"},
	} {
		file := filepath.Join(t.TempDir(), "study.log")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Flags{File: file, outside: "error"}.Read(&task.Task{Name: "one", Space: space, Goal: task.Minimize})
		var lines []string
		for _, p := range got.Trials {
			lines = append(lines, described(p))
		}
		text := strings.Join(lines, "|")
		if err != nil {
			text = strings.TrimPrefix(err.Error(), "import: "+file+": ")
		}
		if text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, text, c.want)
		}
	}
}

// A journal with more values than a trial may have keeps some at equal distances, and the last.
func TestCurvesOfStudiesAreThinned(t *testing.T) {
	r := curveRow{study: true}
	for step := range uint64(5000) {
		r.putIntermediate(step+1, float64(step))
	}
	curve, err := r.curve()
	if err != nil || len(curve) != curves.MaxSteps || curve[0].Step != 1 || curve.Last().Step != 5000 {
		t.Errorf("%d values, %v", len(curve), err)
	}
}

func TestStepsOfRows(t *testing.T) {
	space := spaceOf(t, "  - {name: steps, type: float, low: 0, high: 1}\n")
	for _, c := range []struct{ text, want string }{
		{"steps,value,state,steps.json\n0.5,,stopped,\"[[1,2],[3,4e-1]]\"\n", "steps=0.5 stopped by program at 3: as imported 1:2.000 3:0.400"},
		{"steps,value,state,steps.json,stop.rule,stop.step,stop.reason\n0.5,,stopped,\"[{\"\"step\"\": 1, \"\"value\"\": 2}]\",asha,1,third\n", "steps=0.5 stopped by asha at 1: third 1:2.000"},
		{"steps,value,state,steps.json,stop.rule,stop.forecast\n0.5,7,done,\"[[1,1]]\",asha,x\n", `line 2: stop.forecast: "x" is not a finite number`},
		{"steps,value,state,stop.rule\n0.5,7,done,patience\n", "steps=0.5 7"},
		{"steps,value,state\n0.5,,stopped\n0.25,7,stopped\n", ""},
		{"steps,value,state,steps.json\n0.5,7,done,\"[[2,1]]\"\n", "steps=0.5 7 2:1.000"},
		{"steps,value,state,steps.json\n0.5,,failed,\"[[2,1]]\"\n", "steps=0.5 failed 2:1.000"},
		{"steps,value,state,cost\n0.5,7,done,2.5\n0.5,,failed,0\n0.5,8,done,\n", "steps=0.5 7 cost 2.5|steps=0.5 failed cost 0|steps=0.5 8"},
		{"steps,value,cost\n0.5,7,-1\n", "line 2: cost: cost is not accepted: cost -1; expected a finite number of 0 or more"},
		{"steps,value,cost\n0.5,7,much\n", `line 2: cost: "much" is not a finite number`},
		{"number,state,value,params_steps,user_attrs_fbo:cost\n0,COMPLETE,7,0.5,2.5\n", "steps=0.5 7 cost 2.5"},
		{"steps,value,steps.json\n0.5,7,x\n", `line 2: steps.json: expected [[1, 0.5], [2, 0.25]] or [{"step": 1, "value": 0.5}]`},
		{"steps,value,steps.json\n0.5,7,\"[[0,1]]\"\n", "line 2: steps.json: step 0; expected a whole number from 1 to 1000000000"},
		{"steps,value,steps.json\n0.5,7,\"[[1,null]]\"\n", "line 2: steps.json: step 1: missing"},
		{"steps,value,steps.json\n0.5,7,\"[[2,1],[1,1]]\"\n", "line 2: step value is not accepted: step 1 with value 1 after step 2; expected increasing steps"},
		{"steps,value,state,steps.json,stop.rule\n0.5,,stopped,\"[[1,1]]\",mine\n", `line 2: stop.rule: "mine"; expected forecast, asha, median, patience, program`},
		{"steps,value,state,steps.json,stop.step\n0.5,,stopped,\"[[1,1]]\",1.5\n", `line 2: stop.step: step 1.5; expected a whole number from 1 to 1000000000`},
	} {
		past, err := parsePastCSV([]byte(c.text), space)
		var lines []string
		for _, p := range past {
			lines = append(lines, described(p))
		}
		text := strings.Join(lines, "|")
		if err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, text, c.want)
		}
	}
}

const roundTrip = `
name: round trip
goal: minimize
parameters:
  - {name: on, type: bool}
  - {name: rate, type: float, low: 0.1, high: 1, step: 0.1}
  - {name: batch, type: int, choices: [16, 32, 64]}
  - {name: units, type: int, low: 1, high: 64}
  - {name: c, type: categorical, choices: [0.1, -2, 1e300]}
  - {name: kind, type: categorical, choices: ["true", "1", "a, \"b\"", "null"]}
constraints: [{name: ram, high: 1}, {name: sound, type: bool}]
surrogate: {features: 32}
`

// TestCurvesRoundTrip: a file of any trials becomes trials of a node, whose file becomes the same
// trials of another node. Only origin and times of the first file are not kept.
func TestCurvesRoundTrip(t *testing.T) {
	of, err := all.Strategies().Parse("test.yaml", []byte(roundTrip))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		now := time.Unix(1e9, 0)
		trials := drawTrials(rt, of)
		for name, write := range map[string]func(*bytes.Buffer, []strategy.Trial) error{
			"csv":  func(b *bytes.Buffer, trials []strategy.Trial) error { return export.CSV(b, of, trials) },
			"json": func(b *bytes.Buffer, trials []strategy.Trial) error { return export.JSON(b, of, trials, nil) },
			"log":  func(b *bytes.Buffer, trials []strategy.Trial) error { return export.OptunaJournal(b, of, trials) },
		} {
			var files [3]bytes.Buffer
			imported := [3][]strategy.Trial{trials}
			for i := range files {
				if err := write(&files[i], imported[i]); err != nil {
					rt.Fatal(err)
				}
				if i < 2 {
					imported[i+1] = throughNode(t, rt, of, files[i].Bytes(), name, now)
				}
			}
			if !bytes.Equal(files[1].Bytes(), files[2].Bytes()) {
				rt.Fatalf("%s: the file\n%s\nbecame\n%s", name, files[1].Bytes(), files[2].Bytes())
			}
			compareTrials(rt, name, imported[1], trials)
		}
	})
}

func drawTrials(rt *rapid.T, of *task.Task) (trials []strategy.Trial) {
	for range rapid.IntRange(1, 4).Draw(rt, "trials") {
		u := rapid.SliceOfN(rapid.Float64Range(0, 1), of.Space.Dim(), of.Space.Dim()).Draw(rt, "u")
		trial := strategy.Trial{ID: uint64(len(trials) + 1), Design: of.Space.Decode(u), Why: strategy.Why{Source: strategy.Own}, Started: time.Unix(0, 0)}
		for range rapid.IntRange(0, 4).Draw(rt, "steps") {
			step := rapid.Uint64Range(1, 1000).Draw(rt, "step")
			if n := len(trial.Steps); n > 0 {
				step += trial.Steps.Last().Step
			}
			trial.Steps = append(trial.Steps, curves.Step{Step: step, Value: rapid.Float64().Draw(rt, "value")})
		}
		trial.State = rapid.SampledFrom([]strategy.State{strategy.Done, strategy.Failed, strategy.StoppedEarly}).Draw(rt, "state")
		if trial.State == strategy.StoppedEarly && len(trial.Steps) == 0 {
			trial.State = strategy.Done
		}
		switch trial.State {
		case strategy.Done:
			trial.Outcome = &strategy.Outcome{Value: rapid.Float64().Draw(rt, "value"), Metrics: drawMetrics(rt), Constraints: map[string]task.Reading{
				"ram": task.Number(rapid.Float64().Draw(rt, "ram")), "sound": task.Truth(rapid.Bool().Draw(rt, "sound")),
			}}
			trial.Violated = of.Violated(trial.Outcome)
		case strategy.Failed:
			trial.Reason = "out of memory"
		}
		// Trials that end by patience are done, and so are those that ignored a decision.
		if trial.State == strategy.StoppedEarly || len(trial.Steps) > 0 && rapid.Bool().Draw(rt, "decided") {
			trial.Stop = &curves.Stop{
				Rule:   rapid.SampledFrom([]string{"forecast", "asha", "median", "patience", "program"}).Draw(rt, "rule"),
				Step:   trial.Steps[0].Step,
				Reason: rapid.SampledFrom([]string{"", "worse than the median 0.5 of 7 complete trials", `"no", 50 % <b>`, "näher"}).Draw(rt, "reason"),
			}
			if rapid.Bool().Draw(rt, "predicted") {
				trial.Stop.Forecast = new(rapid.Float64().Draw(rt, "forecast"))
			}
		}
		trial.Attributes = map[string]string{"commit": "abc", "reason": "mine", export.CostAttribute: "mine too"}
		if rapid.Bool().Draw(rt, "has cost") {
			trial.Cost = new(rapid.Float64Range(0, 1e300).Draw(rt, "cost"))
		}
		trials = append(trials, trial)
	}
	return trials
}

// throughNode returns the trials of a node that has imported a file.
func throughNode(t *testing.T, rt *rapid.T, of *task.Task, file []byte, ending string, now time.Time) []strategy.Trial {
	rt.Helper()
	path := filepath.Join(t.TempDir(), "trials."+ending)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		rt.Fatal(err)
	}
	got, err := Flags{File: path, outside: "error"}.Read(of)
	if err != nil {
		rt.Fatalf("%v in\n%s", err, file)
	}
	key, _, err := crypto.GenerateEd25519Key(bytes.NewReader(make([]byte, 32)))
	if err != nil {
		rt.Fatal(err)
	}
	a, err := agent.New(agent.Config{Task: of, Strategies: all.Strategies(), Key: key, Seed: random.SeedOf(1)}, nil, now)
	if err != nil {
		rt.Fatal(err)
	}
	if _, err := a.Import(now, got.Trials); err != nil {
		rt.Fatal(err)
	}
	return a.Trials()
}

// compareTrials compares what an import keeps.
func compareTrials(rt *rapid.T, name string, got, want []strategy.Trial) {
	rt.Helper()
	if len(got) != len(want) {
		rt.Fatalf("%s: %d trials of %d", name, len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.State != w.State || !g.Design.Equal(w.Design) || !reflect.DeepEqual(g.Steps, w.Steps) || !reflect.DeepEqual(g.Stop, w.Stop) || !reflect.DeepEqual(g.Cost, w.Cost) || !reflect.DeepEqual(g.Attributes, w.Attributes) {
			rt.Fatalf("%s: %v %v %v became %v %v %v", name, w, w.Steps, w.Attributes, g, g.Steps, g.Attributes)
		}
		if w.Outcome != nil && (g.Outcome.Value != w.Outcome.Value || !reflect.DeepEqual(g.Outcome.Constraints, w.Outcome.Constraints) || len(g.Outcome.Metrics) != len(w.Outcome.Metrics)) {
			rt.Fatalf("%s: %+v became %+v", name, w.Outcome, g.Outcome)
		}
	}
}
