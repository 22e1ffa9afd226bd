package task_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// several is the beginning of a task file with two objectives.
const several = `name: front
objectives:
  - {name: error, goal: minimize}
  - {name: speed, goal: maximize, reference: 2.5}
parameters: [{name: x, type: float, low: 0, high: 1}]
`

func TestParseObjectives(t *testing.T) {
	got, err := parse("", []byte(several))
	if err != nil {
		t.Fatal(err)
	}
	if got.Goal != task.Minimize || len(got.Objectives) != 2 || got.Objectives[0].Reference != nil || *got.Objectives[1].Reference != 2.5 {
		t.Errorf("%+v with goal %s", got.Objectives, got.Goal)
	}
	if want := []task.Output{task.Objective, "speed"}; !slices.Equal(got.ObjectiveOutputs(), want) {
		t.Errorf("outputs %q, want %q", got.ObjectiveOutputs(), want)
	}
	if got.Sign(task.Objective) != -1 || got.Sign("speed") != 1 || !got.IsObjective("speed") || got.IsObjective("error") {
		t.Error("signs or outputs are wrong")
	}
	if references := got.References(); !math.IsNaN(references[0]) || references[1] != 2.5 {
		t.Errorf("references %v", references)
	}
	if strings.Contains(string(got.Canonical()), `"goal":"minimize","name":"front"`) {
		t.Errorf("the canonical form has a goal beside the objectives: %s", got.Canonical())
	}
	again, err := parse("", got.Canonical())
	if err != nil || again.ID() != got.ID() {
		t.Errorf("the canonical form has the ID %v, want %v (%v)", again.ID(), got.ID(), err)
	}
	made, err := all.Strategies().NewTask(task.Spec{Name: got.Name, Objectives: got.Objectives, Parameters: got.Space.Parameters()})
	if err != nil || made.ID() != got.ID() {
		t.Errorf("New: %v", err)
	}
}

// TestObjectivesOrder: the first objective is the value, so another order is another task.
func TestObjectivesOrder(t *testing.T) {
	swapped := strings.NewReplacer("error, goal: minimize", "speed, goal: maximize, reference: 2.5", "speed, goal: maximize, reference: 2.5", "error, goal: minimize").Replace(several)
	one, err := parse("", []byte(several))
	if err != nil {
		t.Fatal(err)
	}
	other, err := parse("", []byte(swapped))
	if err != nil {
		t.Fatal(err)
	}
	if one.ID() == other.ID() {
		t.Error("tasks with another first objective have one ID")
	}
}

func TestObjectiveErrors(t *testing.T) {
	const parameters = "parameters: [{name: x, type: float, low: 0, high: 1}]\n"
	list := func(items string) string { return "name: a\nobjectives: [" + items + "]\n" + parameters }
	two := "{name: a, goal: minimize}, {name: b, goal: maximize}"
	checkErrors(t, []errorCase{
		{list("{name: a, goal: minimize}"), `2:13: objectives must be 2 to 4, not 1; for one objective expected goal: minimize or goal: maximize`},
		{list(two) + "goal: minimize\n", `4:1: goal applies only with one objective, without the key objectives`},
		{list("{name: a, goal: minimize}, {name: a, goal: best, reference: .nan, foo: 1}"), `2:48: objective "a": the name is repeated
2:57: objective "a": goal must be one of minimize, maximize, not the text "best"
2:74: objective "a": reference must be a finite number, not .nan
2:80: objective "a": unknown key "foo"; accepted: name, goal, reference`},
		{list(two) + "constraints: [{name: b, low: 1}]\n", `4:14: constraint "b" is an objective too; expected its limit as reference of the objective`},
		{list(two) + "stop: {type: asha}\n", `2:13: several objectives do not go with the section stop: its rules compare the values of one objective by step`},
		{list(two) + "surrogate: {type: rff}\n", `2:13: several objectives need surrogate type exact with learned hyperparameters: each objective has its own model`},
		{list(two) + "strategy: {type: consensus}\n", `4:18: strategy: type consensus takes one objective, and the task has 2; those that take several: peer-prior, fts, density, alone, parego`},
		{list(two) + "strategy: {type: constrained-gp}\n", `4:18: strategy: type constrained-gp takes one objective, and the task has 2; those that take several: peer-prior, fts, density, alone, parego`},
		{list(two) + "strategy: {type: density}\nprivacy: {mechanism: local, epsilon: 4, releases: 3}\n", `2:13: several objectives do not go with the section privacy: its noise is for the share of one objective`},
	})
}

// outcome implements task.Measurement.
type measured map[task.Output]float64

func (m measured) Measured(output task.Output) (float64, bool) { v, ok := m[output]; return v, ok }

func TestScores(t *testing.T) {
	of, err := parse("", []byte(several))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := of.Scores(measured{task.Objective: 3, "speed": 4}); !ok || !slices.Equal(got, []float64{-3, 4}) {
		t.Errorf("scores %v, %v", got, ok)
	}
	if _, ok := of.Scores(measured{task.Objective: 3}); ok {
		t.Error("an outcome without speed has scores")
	}
	for name, c := range map[string]struct {
		metrics map[string]float64
		want    string
	}{
		"all":     {map[string]float64{"speed": 1, "more": 2}, ""},
		"missing": {map[string]float64{"sped": 1}, `the task's objective "speed" is missing in the outcome; expected a metric of this name`},
		"NaN":     {map[string]float64{"speed": math.NaN()}, `objective "speed" is NaN, not a finite number`},
	} {
		got := ""
		if err := of.CheckObjectives(c.metrics); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
