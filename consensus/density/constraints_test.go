package density

import (
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
)

// A density is about feasible designs: the optimum of the objective at 0.2 is none where
// the first coordinate must be 0.5 at least, and where it must be 1.5 there is none.
func TestDensitiesAreOfFeasibleDesigns(t *testing.T) {
	for _, keys := range []string{", components: 1", ", components: 3"} {
		spec := newTask(t, plane, "exact", keys)
		for _, c := range []struct {
			low, from float64
			none      bool
		}{{low: 0.5, from: 0.45}, {low: 1.5, none: true}} {
			x := designs(spec, 15, random.SeedOf(3).Stream("designs", 0))
			with, view := strategytest.Constrain(t, viewOf(t, spec, x, bowl(spec, 0.2)), c.low)
			d, err := sampleOptimum(t.Context(), with, view, random.SeedOf(4))
			if err != nil || (len(d.Components) == 0) != c.none {
				t.Fatalf("%s, from %g: %+v, %v", keys, c.low, d, err)
			}
			for _, component := range d.Components {
				if got := component.Center.Coordinates[0]; got < c.from {
					t.Errorf("%s, from %g: centre at %g", keys, c.low, got)
				}
			}
		}
	}
}

// While nothing feasible is known, peers' densities count beside the probability of
// feasibility.
func TestPeersBeforeAnythingIsFeasible(t *testing.T) {
	spec := newTask(t, plane, "exact", ", components: 1")
	x := designs(spec, 6, random.SeedOf(5).Stream("designs", 0))
	with, view := strategytest.Constrain(t, viewOf(t, spec, x, bowl(spec, 0.2)), 1.5)
	if alone := suggest(t, New(with), view, 7, random.SeedOf(6)); alone.Why.Source != "feasibility" {
		t.Errorf("alone: %+v", alone.Why)
	}
	// The constraint does not depend on the second coordinate: the peers decide it.
	for _, y := range []float64{0.1, 0.9} {
		d := around(with, 0.05, []float64{1, y})
		view.Shares = []*strategy.Share{shareOf(t, with, "a", d), shareOf(t, with, "b", d)}
		got := suggest(t, New(with), view, 7, random.SeedOf(6))
		if got.Why.Source != "density" || got.Why.PeerCount != 2 {
			t.Errorf("with a peer: %+v", got.Why)
		}
		if x := with.Space.Encode(got.Design); x[0] < 0.9 || x[1] < y-0.15 || x[1] > y+0.15 {
			t.Errorf("%v, where the peers have %g", got.Design, y)
		}
	}
}
