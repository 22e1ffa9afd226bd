package strategytest

import (
	"math/rand/v2"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// The posterior of a view is highest near the best trial, for both goals.
func TestPosteriorFollowsTheGoal(t *testing.T) {
	for _, goal := range []task.Goal{task.Minimize, task.Maximize} {
		for _, kind := range []string{"exact", "rff"} {
			definition, err := task.New(task.Spec{Name: "test", Goal: goal, Surrogate: task.Settings{"type": kind},
				Parameters: []task.Parameter{{Name: "x", Kind: task.Float, High: 1}},
			}, []task.StrategyType{{Name: "any"}})
			if err != nil {
				t.Fatal(err)
			}
			best, worst := 1.0, -1.0
			if goal == task.Minimize {
				best, worst = worst, best
			}
			for name, condition := range map[string]func(*strategy.View){
				"fixed":  func(v *strategy.View) { Condition(t, v, 1e-3) },
				"fitted": func(v *strategy.View) { Fit(t, v, rand.New(rand.NewPCG(1, 2))) },
			} {
				view := View(definition, [][]float64{{0.1}, {0.5}, {0.9}}, func(x []float64) float64 {
					return map[bool]float64{true: best, false: worst}[x[0] > 0.8]
				})
				if view.Observations != 3 || len(view.Trials) != 3 || view.Trials[2].ID != 3 || view.Trials[2].Outcome.Value != best {
					t.Errorf("%s, %s: %+v", goal, kind, view)
				}
				condition(&view)
				high, _ := view.Posterior.Predict([]float64{0.9})
				low, _ := view.Posterior.Predict([]float64{0.1})
				if high < low+0.5 {
					t.Errorf("%s, %s, %s: mean %g at the best trial, %g at another", goal, kind, name, high, low)
				}
			}
		}
	}
}

func TestConditionLeavesAnEmptyViewAlone(t *testing.T) {
	definition, err := task.New(task.Spec{Name: "test", Goal: task.Maximize,
		Parameters: []task.Parameter{{Name: "x", Kind: task.Float, High: 1}}}, []task.StrategyType{{Name: "any"}})
	if err != nil {
		t.Fatal(err)
	}
	view := View(definition, nil, nil)
	if Condition(t, &view, 1e-3); view.Posterior != nil {
		t.Error("a posterior of no trials")
	}
}
