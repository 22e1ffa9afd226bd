package sums

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
)

// TestModelUnitsAgree compares the units of nodes that evaluate one function at four random designs
// each. The logarithms of scales by the model must scatter at most 0.9 times as much as those of median
// deviations. The true ratio is 0.76, with a standard error of 0.04 over 240 nodes: a power above 0.99.
func TestModelUnitsAgree(t *testing.T) {
	definition := strategytest.Task(t, strategy.Set{register()}, `
name: summed
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}]
surrogate: {features: 8}
strategy: {type: summing, share: sum, share_every: 3, roster: [%s]}`, fbotest.Roster(t, 5))
	f := func(x []float64) float64 { return 30 + 7*math.Sin(5*x[0]) + 3*math.Cos(4*x[1]) }
	var robust, model, level scatter
	for node := range uint64(240) {
		rng := random.SeedOf(node).Stream("designs", 0)
		var x [][]float64
		for range 4 {
			x = append(x, acquisition.Sample(definition.Space, rng))
		}
		view := strategytest.View(definition, x, f)
		strategytest.Condition(t, &view, 1e-3)
		all, trials := observations(view)
		a, b := unitsOf(outputs(all)), modelUnits(view, outputs(all), trials)
		if !a.valid() || !b.valid() {
			t.Fatalf("node %d: units %+v, %+v", node, a, b)
		}
		robust.add(math.Log(a.Scale))
		model.add(math.Log(b.Scale))
		level.add(b.Level)
		if without := modelUnits(strategy.View{Task: definition, Trials: view.Trials}, outputs(all), trials); without != a {
			t.Errorf("without a model the units are %+v, expected %+v", without, a)
		}
	}
	t.Logf("deviation of ln scale: %.2f by median deviations, %.2f by the model; of the level: %.1f", robust.deviation(), model.deviation(), level.deviation())
	if !(model.deviation() < 0.9*robust.deviation()) {
		t.Errorf("scales scatter by %.2f, and by %.2f without a model", model.deviation(), robust.deviation())
	}
}

// scatter is a sample of numbers.
type scatter struct{ n, sum, squares float64 }

func (s *scatter) add(v float64) { s.n, s.sum, s.squares = s.n+1, s.sum+v, s.squares+v*v }

func (s *scatter) deviation() float64 { return math.Sqrt(s.squares/s.n - s.sum*s.sum/s.n/s.n) }
