package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// Four members with the same objective and constraint, of which a seventh of the designs
// keeps the limit and the optimum is on its border: all end within 0.02 of it, and hear
// where the others believe it to be.
func TestConstraintsAmongPeers(t *testing.T) {
	for name, chosen := range map[string]task.Strategy{
		"density": {Type: "density"}, "labels": {Type: "density", Settings: task.Settings{"share": "feasibility"}},
		"constrained-gp": {Type: "constrained-gp"},
		"logei":          {Type: "logei"}, "mes": {Type: "mes"}, "ts": {Type: "ts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, err := all.Strategies().NewTask(task.Spec{
				Name: "disc", Goal: task.Minimize,
				Parameters:  []task.Parameter{{Name: "x", Kind: task.Float, High: 1}, {Name: "y", Kind: task.Float, High: 1}},
				Constraints: []task.Constraint{{Output: "radius", Low: math.Inf(-1), High: 0.22}},
				Strategy:    chosen,
			})
			if err != nil {
				t.Fatal(err)
			}
			s := sim.Scenario{Task: spec, Seed: random.SeedOf(2), Network: sim.Network{Delay: 50 * time.Millisecond}}
			for range 4 {
				s.Members = append(s.Members, sim.Member{
					Evaluations: 20, Duration: evaluation,
					Objective: func(d task.Design, _ uint64) float64 { return math.Hypot(d.Float("x")-0.9, d.Float("y")-0.1) },
					Constraints: func(d task.Design, _ uint64) map[string]task.Reading {
						return map[string]task.Reading{"radius": task.Number(math.Hypot(d.Float("x")-0.4, d.Float("y")-0.6))}
					},
				})
			}
			optimum := math.Hypot(0.5, 0.5) - 0.22
			for i, m := range run(t, s).Members {
				best := strategy.Best(spec, m.Trials)
				if best == nil || best.Outcome.Value > optimum+0.02 {
					t.Errorf("member %d: best %+v, optimum %g", i, best, optimum)
				}
				if listens := chosen.Type == "density" || chosen.Type == "constrained-gp"; listens && m.PeerInformedTrials == 0 {
					t.Errorf("member %d listened to nobody", i)
				}
				for _, trial := range m.Trials {
					if (len(trial.Violated) == 0) != spec.Feasible(trial.Outcome) {
						t.Errorf("member %d, trial %d: violated %v", i, trial.ID, trial.Violated)
					}
				}
			}
		})
	}
}
