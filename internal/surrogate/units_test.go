package surrogate_test

import (
	"math/rand/v2"
	"testing"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
)

// The units that Outputs returns are those of the posterior, whether bad values are bent or not.
func TestOutputsHasTheUnitsOfThePosterior(t *testing.T) {
	obs := surrogate.Observations{Y: []float64{1, 1.1, 0.9, 1.05, 0.95, 1.2, -3, -1e3}}
	for i := range obs.Y {
		obs.X = append(obs.X, []float64{float64(i) / 10})
	}
	for _, kind := range []string{"exact", "rff"} {
		for name, change := range map[string]func(*task.Task){
			"one objective":      func(*task.Task) {},
			"several objectives": func(of *task.Task) { of.Objectives = make([]task.ObjectiveGoal, 2) },
			"average":            func(of *task.Task) { of.Strategy.Straight = true },
		} {
			of := newTask(t, kind, 1)
			change(of)
			model, err := surrogate.New(of)
			if err != nil {
				t.Fatal(err)
			}
			h, err := model.Fit(t.Context(), obs, nil, rand.New(rand.NewPCG(1, 2)))
			if err != nil {
				t.Fatal(err)
			}
			posterior, err := model.Condition(obs, h, nil)
			if err != nil {
				t.Fatal(err)
			}
			y, units, err := surrogate.Outputs(of, obs)
			if err != nil {
				t.Fatal(err)
			}
			own := posterior.(surrogate.Scaled).Units()
			for i, v := range y {
				if own.Standardised(obs.Y[i]) != v || own.Output(v) != units.Output(v) || own.Level != units.Level || own.Scale != units.Scale {
					t.Errorf("%s, %s: output %g is %g in the units of Outputs, %g in those of the posterior", kind, name, obs.Y[i], v, own.Standardised(obs.Y[i]))
				}
			}
			if bends := y[6]/y[7] > 0.1; bends != (name == "one objective") {
				t.Errorf("%s, %s: bad values are bent: %v", kind, name, bends)
			}
		}
	}
}
