package task

import (
	"slices"
	"testing"
)

func TestDifferences(t *testing.T) {
	file := func(text string) *Task {
		t.Helper()
		parsed, err := Parse("task.yaml", []byte(text), able)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	former := file("name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: bool}]\nstrategy: {type: keeps}\nconstraints: [{name: cost, high: 1}]\n")
	for _, c := range []struct {
		text string
		want []string
	}{
		{"name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1.0}, {name: y, type: bool}]\nstrategy: {type: keeps}\nconstraints: [{name: cost, high: 1}]\n", nil},
		{"name: a\ngoal: maximize\nparameters: [{name: x, type: float, low: 0, high: 2}, {name: z, type: bool}]\nstrategy: {type: keeps}\nconstraints: [{name: cost, high: 2}]\n",
			[]string{`constraint "cost"`, "goal", `parameter "x"`, `parameter "y" (removed)`, `parameter "z" (new)`}},
		{"name: a\ngoal: minimize\nparameters: [{name: y, type: bool}, {name: x, type: float, low: 0, high: 1}]\nstrategy: {type: too}\n",
			[]string{`constraint "cost" (removed)`, "order of the parameters", "strategy"}},
		{"name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1, when: {y: true}}, {name: y, type: bool}]\nstrategy: {type: keeps}\nconstraints: [{name: cost, high: 1}]\nparameter_constraints: [x < 1]\n",
			[]string{`parameter constraint "x < 1" (new)`, `parameter "x"`}},
	} {
		if got := Differences(former, file(c.text)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, expected %q", c.text, got, c.want)
		}
	}
}
