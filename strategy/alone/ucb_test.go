package alone_test

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

// The bounds are explained in the test of LogEI; one seed has to do for rff.
func TestUCBFindsTheValley(t *testing.T) {
	for _, c := range []struct {
		kind  string
		seeds uint64
		bound float64
	}{{"exact", 2, 0.004}, {"rff", 1, 0.504}} {
		for seed := range c.seeds {
			definition := parse(t, c.kind, "ucb")
			view := tune(t, definition, alone.NewUCB(definition), random.SeedOf(seed), 20)
			if best := bestOf(t, view); best > c.bound {
				t.Errorf("%s, seed %d: best %g", c.kind, seed, best)
			}
			for _, trial := range view.Trials[4:] {
				if source := trial.Why.Source; source != "ucb" && source != "random" {
					t.Errorf("%s, seed %d: trial %d comes from %q", c.kind, seed, trial.ID, source)
				}
			}
		}
	}
}

// boundOn returns the largest mean + deviations·sd on a grid of designs, and the
// design that has it.
func boundOn(space *task.Space, posterior surrogate.Posterior, deviations float64) (best float64, at []float64) {
	best = math.Inf(-1)
	const steps = 60
	for i := range steps + 1 {
		for j := range steps + 1 {
			for _, side := range [][2]float64{{1, 0}, {0, 1}} {
				x := []float64{float64(i) / steps, float64(j) / steps, side[0], side[1]}
				space.Snap(x)
				if value := boundAt(posterior, x, deviations); value > best {
					best, at = value, x
				}
			}
		}
	}
	return best, at
}

func boundAt(posterior surrogate.Posterior, x []float64, deviations float64) float64 {
	mean, variance := posterior.Predict(x)
	return mean + deviations*math.Sqrt(variance)
}

// No design of a grid has a larger bound than the suggestion, while the designs
// that are best for bounds with fewer or more deviations have clearly smaller
// ones: so it is this bound that is maximised.
func TestUCBMaximisesMeanPlusDeviations(t *testing.T) {
	for _, c := range []struct {
		strategy   string
		deviations float64 // in trial 8, of 3 parameters
	}{
		{"ucb", 2},
		{"ucb, c1: 0.08, c2: 5", 0.941},
		{"ucb, c1: 1, c2: 5", 3.327},
	} {
		t.Run(c.strategy, func(t *testing.T) { maximisesBound(t, c.strategy, c.deviations) })
	}
}

func maximisesBound(t *testing.T, name string, deviations float64) {
	definition := parse(t, "exact", name)
	s := alone.NewUCB(definition)
	fewer, more := 0.0, 0.0 // what the other bounds' designs lose, at most
	for seed := range uint64(2) {
		view := tune(t, definition, s, random.SeedOf(seed), 7)
		got, err := s.Suggest(t.Context(), view, 8, random.SeedOf(seed))
		if err != nil || got.Why != (strategy.Why{Source: "ucb", Phrase: "upper confidence bound"}) {
			t.Fatalf("%+v, %v", got, err)
		}
		reached := boundAt(view.Posterior, definition.Space.Encode(got.Design), deviations)
		if best, at := boundOn(definition.Space, view.Posterior, deviations); best > reached+1e-6 {
			t.Errorf("seed %d: %v reaches %g, %v reaches %g", seed, got.Design, reached, definition.Space.Decode(at), best)
		}
		_, near := boundOn(definition.Space, view.Posterior, 0.75*deviations)
		_, far := boundOn(definition.Space, view.Posterior, 1.25*deviations)
		fewer = max(fewer, reached-boundAt(view.Posterior, near, deviations))
		more = max(more, reached-boundAt(view.Posterior, far, deviations))
	}
	t.Logf("lost with a quarter less %.3g, with a quarter more %.3g", fewer, more)
	if fewer < 1e-3 || more < 1e-3 {
		t.Errorf("the test cannot tell %g deviations from a quarter less or more, whose designs lose %g and %g", deviations, fewer, more)
	}
}

// The bound grows with the trial, starting designs included, and with the number of
// parameters, of which a categorical one is one.
func TestConfidenceOfUCB(t *testing.T) {
	for _, c := range []struct {
		strategy string
		trial    uint64
		want     float64
	}{
		{"ucb", 1, 4},
		{"ucb", 1000, 4},
		{"ucb, c1: 0.08, c2: 5", 1, 0.08 * 3 * math.Log(5)},
		{"ucb, c1: 0.08, c2: 5", 70, 0.08 * 3 * math.Log(350)},
		{"ucb, c1: 0.01, c2: 1", 1, 0},
		{"ucb, c1: 0.5, c2: 0.1", 9, 0}, // not below
		{"ucb, c1: 0, c2: 5", 9, 0},
		{"consensus, acquisition: ucb", 9, 4},
	} {
		s := alone.NewUCB(parse(t, "exact", c.strategy))
		if got := alone.Beta(s, c.trial); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: trial %d has %g, want %g", c.strategy, c.trial, got, c.want)
		}
	}
}
