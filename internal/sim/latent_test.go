package sim_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// common is a scenario whose members have the same function, in units of their own.
func common(t *testing.T, kind string, members, evaluations int, model string) sim.Scenario {
	t.Helper()
	s := scenario(t, "ts", members, evaluations)
	made, err := all.Strategies().NewTask(task.Spec{Name: "common", Goal: task.Minimize, Parameters: s.Task.Space.Parameters(),
		Surrogate: task.Settings{"type": model, "features": 32}, Strategy: task.Strategy{Type: kind}})
	if err != nil {
		t.Fatal(err)
	}
	s.Task = made
	for i := range s.Members {
		s.Members[i].Objective = func(d task.Design, _ uint64) float64 { return float64(i+1) * math.Sin(12*d.Float("x")) }
	}
	return s
}

// Members receive each other's statements under a strategy that shares something else and under
// one that shares nothing, and there their designs are better by it.
func TestLatentStatementsAreHeard(t *testing.T) {
	for _, kind := range []string{"alone", "peer-prior"} {
		regretOf := func(model string) (mean float64, statements int) {
			s := common(t, kind, 5, 7, model)
			s.Watch = func(_ int, view strategy.View) {
				said := 0
				for _, share := range view.Shares {
					if share.Kind == protocol.LatentKind {
						said++
					}
				}
				statements = max(statements, said)
			}
			for _, m := range run(t, s).Members {
				for _, trial := range m.Trials[3:] {
					mean += (1 + math.Sin(12*trial.Design.Float("x"))) / float64(len(s.Members)*len(m.Trials[3:]))
				}
			}
			return mean, statements
		}
		shared, received := regretOf("shared-latent")
		if received != 4 {
			t.Errorf("%s: a member has statements of %d peers, want 4", kind, received)
		}
		if kind != "alone" {
			continue
		}
		own, none := regretOf("exact")
		t.Logf("mean regret %.3g by own observations, %.3g with statements", own, shared)
		if none != 0 || !(shared < 0.7*own) {
			t.Errorf("mean regret %.3g by own observations, with %d statements, and %.3g with statements, want less than 0.7 of it", own, none, shared)
		}
	}
}

// Without peers the designs are those of the exact surrogate.
func TestSharedLatentWithoutPeers(t *testing.T) {
	designs := func(model string) (all []task.Design) {
		for _, trial := range run(t, common(t, "alone", 1, 6, model)).Members[0].Trials {
			all = append(all, trial.Design)
		}
		return all
	}
	if own, shared := designs("exact"), designs("shared-latent"); !reflect.DeepEqual(own, shared) {
		t.Errorf("exact %v\nshared-latent %v", own, shared)
	}
}
