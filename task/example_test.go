package task_test

import (
	"fmt"

	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const example = `
name: wearable-lr
goal: minimize                     # or maximize
parameters:
  - {name: learning_rate, type: float, low: 0.001, high: 1, scale: log}
  - {name: batch_size, type: int, low: 20, high: 100}
  - {name: optimizer, type: categorical, choices: [sgd, adam]}
`

func ExampleParse() {
	t, err := all.Strategies().Parse("task.yaml", []byte(example))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Name, t.Goal, t.Strategy.Type)
	fmt.Println(t.Space.Len(), "parameters,", t.Space.Dim(), "coordinates")
	fmt.Println(t.ID())
	// Output:
	// wearable-lr minimize peer-prior
	// 3 parameters, 4 coordinates
	// bagaaieragnyn3ww3ruaxmbz55f2sn7xezzxskqzxqzxqammst7uiblhllr4a
}

func ExampleParse_errors() {
	_, err := all.Strategies().Parse("task.yaml", []byte(`
name: wearable-lr
goal: smallest
parameters:
  - {name: x, type: float, low: 3, high: 1}
  - {name: optimizer, type: categorical, choices: [sgd, 2]}
stratgy: {type: ts}
`))
	fmt.Println(err)
	// Output:
	// task.yaml:3:7: goal must be one of minimize, maximize, not the text "smallest"
	// task.yaml:5:33: parameter "x": low 3 must be below high 1
	// task.yaml:6:57: parameter "optimizer": choice 2 is a number among texts; write it in quotes ("2")
	// task.yaml:7:1: unknown key "stratgy"; accepted: name, goal, objectives, parameters, parameter_constraints, designs, constraints, failures, continues, surrogate, strategy, privacy, stop, description, unit, tags, default
}

func ExampleSpace_Decode() {
	t, err := all.Strategies().Parse("task.yaml", []byte(example))
	if err != nil {
		fmt.Println(err)
		return
	}
	d := t.Space.Decode([]float64{0.5, 0.5, 0.2, 0.7})
	fmt.Println(d)
	fmt.Println(d.Key())
	fmt.Println(t.Space.Decode(t.Space.Encode(d)).Equal(d))
	// Output:
	// learning_rate=0.0316227766 batch_size=60 optimizer=adam
	// {"learning_rate":0.0316227766,"batch_size":60,"optimizer":"adam"}
	// true
}

func ExampleSpace_UnmarshalDesign() {
	t, err := all.Strategies().Parse("task.yaml", []byte(example))
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := t.Space.UnmarshalDesign([]byte(`{"batch_size": 32, "learning_rate": 1e-2, "optimizer": "sgd"}`))
	fmt.Println(d, err)
	_, err = t.Space.UnmarshalDesign([]byte(`{"batch_size": 32, "learning_rate": 1e-2, "optimizer": "lion"}`))
	fmt.Println(err)
	// Output:
	// learning_rate=0.01 batch_size=32 optimizer=sgd <nil>
	// task: parameter "optimizer": "lion" is not accepted; it takes one of "sgd", "adam"
}

func ExampleNew() {
	t, err := all.Strategies().NewTask(task.Spec{
		Name: "heat-pump", Goal: task.Minimize,
		Parameters: []task.Parameter{
			{Name: "setpoint", Kind: task.Float, Low: 18, High: 24, Step: 0.5},
			{Name: "fan", Kind: task.Int, Numbers: []float64{200, 500, 1200}},
			{Name: "night_mode", Kind: task.Bool},
		},
		Strategy: task.Strategy{Type: "fts", Settings: task.Settings{"share_every": 2}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	file, err := all.Strategies().Parse("task.yaml", []byte(`
name: heat-pump
goal: minimize
parameters:
  - {name: setpoint, type: float, low: 18, high: 24, step: 0.5}
  - {name: fan, type: int, choices: [200, 500, 1200]}
  - {name: night_mode, type: bool}
strategy: {type: fts, share_every: 2}
`))
	fmt.Println(err, t.ID().Equals(file.ID()))
	d := t.Space.Decode([]float64{0.5, 0.5, 0, 1})
	fmt.Println(d.Float("setpoint"), d.Int("fan"), d.Bool("night_mode"))
	// Output:
	// <nil> true
	// 21 500 true
}
