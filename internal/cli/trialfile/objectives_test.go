package trialfile

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func tradeTask(t *testing.T) *task.Task {
	t.Helper()
	parsed, err := all.Strategies().Parse("test.yaml", []byte(`
name: trade
objectives:
  - {name: error, goal: minimize}
  - {name: speed, goal: maximize}
parameters: [{name: x, type: float, low: 0, high: 1}]
`))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func readText(t *testing.T, of *task.Task, name, text string) ([]agent.Past, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Flags{File: path, outside: "error"}.Read(of)
	return got.Trials, err
}

// TestObjectivesRoundTrip reads what the exports write of a task with several objectives.
func TestObjectivesRoundTrip(t *testing.T) {
	of := tradeTask(t)
	var trials []strategy.Trial
	var want []agent.Past
	for i, scores := range [][2]float64{{0.25, 3}, {0.5, 2}, {0.125, 1}} {
		outcome := strategy.Outcome{Value: scores[0], Metrics: map[string]float64{"speed": scores[1], "memory": 7}}
		one := strategy.Trial{ID: uint64(i + 1), Design: of.Space.Decode([]float64{float64(i) / 4}), State: strategy.Done, Outcome: &outcome}
		trials, want = append(trials, one), append(want, agent.Past{Design: one.Design, Outcome: outcome})
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"trials.csv":  func(b *bytes.Buffer) error { return export.CSV(b, of, trials) },
		"trials.json": func(b *bytes.Buffer) error { return export.JSON(b, of, trials, nil) },
		"trials.log":  func(b *bytes.Buffer) error { return export.OptunaJournal(b, of, trials) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := readText(t, of, name, b.String())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v %+v, want %+v of\n%s", name, err, got, want, b.String())
		}
		if name == "trials.csv" && !strings.HasPrefix(b.String(), "trial,state,value,front,x,metric.memory,metric.speed,") {
			t.Errorf("columns: %s", b.String())
		}
	}
}

// TestColumnsOfObjectives reads files of other programs: data frames of Optuna, with numbers or names of the
// objectives, and tables with their names.
func TestColumnsOfObjectives(t *testing.T) {
	of := tradeTask(t)
	for _, text := range []string{
		"number,values_0,values_1,params_x,state\n0,0.25,3,0.5,COMPLETE\n1,,,0.5,RUNNING\n",
		"number,values_error,values_speed,params_x,state\n0,0.25,3,0.5,COMPLETE\n",
		"x,error,speed\n0.5,0.25,3\n",
		"x,value,metric.speed\n0.5,0.25,3\n",
	} {
		got, err := readText(t, of, "trials.csv", text)
		if err != nil || len(got) != 1 || got[0].Outcome.Value != 0.25 || got[0].Outcome.Metrics["speed"] != 3 {
			t.Errorf("%q: %v %+v", text, err, got)
		}
	}
	const study = `{"op_code":0,"worker_id":"w","study_name":"a","directions":[DIRECTIONS]}` + "\n" +
		`{"op_code":4,"worker_id":"w","study_id":0,"state":1,"value":null,"values":[0.25,3.0],"params":{"x":0.5},"distributions":{"x":"{\"name\":\"FloatDistribution\",\"attributes\":{}}"},"user_attrs":{},"system_attrs":{},"intermediate_values":{}}` + "\n"
	if got, err := readText(t, of, "a.log", strings.Replace(study, "DIRECTIONS", "1,2", 1)); err != nil || len(got) != 1 || got[0].Outcome.Metrics["speed"] != 3 {
		t.Errorf("journal: %v %+v", err, got)
	}
	for text, want := range map[string]string{
		strings.Replace(study, "DIRECTIONS", "1,1", 1):   `the study "a" does not maximize objective 2, as the task does with "speed"`,
		strings.Replace(study, "DIRECTIONS", "1,2,1", 1): `the study "a" has 3 objectives, and the task has 2; expected equal numbers`,
		"x,value\n0.5,0.25\n":                            `line 2: the task's objective "speed" is missing in the outcome; expected a metric of this name`,
		"x,error,speed\n0.5,0.25,nan\n":                  `line 2: metric "speed": "nan" is not a finite number`,
		"x,error,sped\n0.5,0.25,1\n":                     `column "sped" is neither a parameter nor "value"`,
	} {
		name := "a.csv"
		if strings.HasPrefix(text, "{") {
			name = "a.log"
		}
		if _, err := readText(t, of, name, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
