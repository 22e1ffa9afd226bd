package agent

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// A running agent and its journal prefer the same design under noise, and none without.
func TestPreferredUnderNoise(t *testing.T) {
	for _, keys := range []string{"type: logei", "type: peer-prior", "type: density"} {
		for _, noise := range []float64{0, 30} {
			d := newDriver(t, configOf(t, newTask(t, "square", keys), 1))
			if r, err := d.agent.Preferred(t.Context(), d.agent.View(d.now)); r != nil || err != nil {
				t.Errorf("%s: preferred before any outcome: %v, %v", keys, r, err)
			}
			rng := random.SeedOf(1).Stream("noise", 0)
			d.run(40, func(design task.Design) float64 {
				return math.Pow(design.Float("x")-0.3, 2) + math.Pow(design.Float("y")-0.6, 2) + noise*rng.NormFloat64()
			})
			running, err := d.agent.Preferred(t.Context(), d.agent.View(d.now))
			if err != nil {
				t.Fatal(err)
			}
			h, err := ReadHistory(decodeAll(t, d.journal), all.Strategies())
			if err != nil {
				t.Fatal(err)
			}
			ended, err := h.Preferred(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if noise == 0 {
				if running != nil || ended != nil {
					t.Errorf("%s: preferred without noise: %v, %v", keys, running, ended)
				}
				continue
			}
			if running == nil || ended == nil {
				t.Errorf("%s: preferred under noise: %v, %v", keys, running, ended)
				continue
			}
			if math.Abs(*running.Predicted-*ended.Predicted) > 1e-3*noise || running.Reason == "" || running.Reason != ended.Reason || !running.Noisy || !ended.Noisy {
				t.Errorf("%s: the agent prefers %+v (%g), its journal %+v (%g)", keys, running, *running.Predicted, ended, *ended.Predicted)
			}
		}
	}
}
