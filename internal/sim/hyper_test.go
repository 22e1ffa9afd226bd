package sim_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func sharing(t *testing.T, kind string, members int, keys task.Settings) sim.Scenario {
	t.Helper()
	s := scenario(t, "ts", members, 8)
	made, err := all.Strategies().NewTask(task.Spec{Name: "sharing", Goal: task.Minimize, Parameters: s.Task.Space.Parameters(),
		Surrogate: keys, Strategy: task.Strategy{Type: kind}})
	if err != nil {
		t.Fatal(err)
	}
	s.Task = made
	for i := range s.Members {
		s.Members[i].Objective = func(d task.Design, _ uint64) float64 { return math.Sin(25*d.Float("x") + float64(i)) }
	}
	return s
}

// Under every strategy that can, members whose functions have short waves come to know
// it from each other, and fit by it.
func TestHyperparametersAreShared(t *testing.T) {
	for _, r := range all.Strategies() {
		if r.Private || r.Roster {
			continue
		}
		s := sharing(t, r.Name, 4, task.Settings{"hyperparameters": "shared", "features": 32})
		under, fits := 0, 0
		s.Watch = func(_ int, view strategy.View) {
			if view.Observations < 4 {
				return
			}
			fits++
			if prior := view.Posterior.Hyperparameters().Prior; prior != nil && prior.Location[0] < -2 {
				under++
			}
		}
		run(t, s)
		if under < fits/2 || fits == 0 {
			t.Errorf("%s: %d of %d fits are by a prior of short waves", r.Name, under, fits)
		}
	}
}

// Whoever hears nobody chooses what it would by itself.
func TestSharedHyperparametersWithoutPeers(t *testing.T) {
	designs := func(keys task.Settings) (all []task.Design) {
		for _, trial := range run(t, sharing(t, "alone", 1, keys)).Members[0].Trials {
			all = append(all, trial.Design)
		}
		return all
	}
	if own, shared := designs(task.Settings{}), designs(task.Settings{"hyperparameters": "shared"}); !reflect.DeepEqual(own, shared) {
		t.Errorf("own %v\nshared %v", own, shared)
	}
}
