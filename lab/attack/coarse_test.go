package attack

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// coarseLife returns the share of a point that is coarsened by the grid of a key drawn from seed.
func coarseLife(t *task.Task, x []float64, seed random.Seed) Disclosure {
	key, _, err := crypto.GenerateEd25519Key(rand.NewChaCha8(seed))
	if err != nil {
		panic(err) // the generator has no end
	}
	grid, err := coarsen.New(key, t.Space)
	if err != nil {
		panic(err) // the key is whole
	}
	told := grid.Coarse(protocol.Point{Coordinates: x})
	d := protocol.Density{Observations: 3, Components: []protocol.Component{{Weight: 1, Std: 0.2, Center: told}}}
	return Disclosure{Task: t, Shares: []Share{{Kind: protocol.DensityKind, Observations: 3, Value: d, Payload: []byte{seed[0]}}}}
}

// One life discloses the cell of the optimum, and further lives with the same grid nothing more.
// The intersection of the cells of five grids is on average a sixth as wide in each coordinate.
// Over 200 points the mean of the larger coordinate distance falls from .115 to about .05, with a
// standard error below .003.
func TestCellsOfSeveralGridsNarrow(t *testing.T) {
	named := newTask(t, 2, "strategy: {type: density}")
	rng := random.SeedOf(1).Stream("places", 0)
	var one, same, five float64
	const places = 200
	for i := range uint64(places) {
		x := []float64{0.4 + 0.2*rng.Float64(), 0.4 + 0.2*rng.Float64()} // whose cells are inside of the cube
		seen := &Seen{Task: named, Observations: 3}
		away := func(grids int) float64 {
			seen.Disclosures = nil
			for life := range lives {
				seen.Disclosures = append(seen.Disclosures, coarseLife(named, x, random.SeedOf(i).Derive("life", uint64(life%grids))))
			}
			return distance(middles(seen, false)[0], x) / places
		}
		same += away(1)
		five += away(lives)
		seen.Disclosures = seen.Disclosures[:1]
		one += distance(middles(seen, false)[0], x) / places
	}
	t.Logf("mean distance %.3f with one cell, %.3f with the same five times, %.3f with five", one, same, five)
	if math.Abs(one-same) > 1e-9 || math.Abs(one-coarsen.Cell/3) > 0.02 || five > 0.065 || five < 0.02 {
		t.Errorf("mean distance %.3f with one cell, %.3f with the same five times, %.3f with five", one, same, five)
	}
}

func TestPlacesOnASide(t *testing.T) {
	named := newTask(t, 2, "strategy: {type: density}")
	life := coarseLife(named, []float64{1, 0.5}, random.SeedOf(3))
	seen := &Seen{Task: named, Observations: 3, Disclosures: []Disclosure{life}}
	told := disclosedIn(life)[0]
	low, high := cellOf(told[0], coarsen.Cell)
	if inside, side := middles(seen, false)[0][0], middles(seen, true)[0][0]; high != 1 || side != 1 || inside != (low+high)/2 {
		t.Errorf("told %g: %g within the cube, %g at its side", told[0], inside, side)
	}
	if got := meanLocation(seen, 5)[0]; distance(got, told) > 1e-12 {
		t.Errorf("the mean of one place %v is %v", told, got)
	}
}

// Coarse shares disclose the cell of the grid that holds the best input, and of the other inputs
// no more than the best input itself would. Other names of the task give the same cells, so their
// intersection is as wide: only the features, and so the believed optimum, differ. A guess in a
// cell of width .35 is off by at most .175 in each coordinate.
func TestCoarseSharesDiscloseOnlyTheCellOfTheOptimum(t *testing.T) {
	checkCoarseShares(t, 5, 1, "peer-prior")
}

// checkCoarseShares attacks that many federations of each strategy. The number of inputs found
// varies by 1 or 2 between single federations, with the features that follow from the task's ID.
func checkCoarseShares(t *testing.T, seed uint64, repeats int, strategies ...string) {
	for _, strategy := range strategies {
		named := newTask(t, 2, "surrogate: {features: 64}\nstrategy: {type: "+strategy+", share: coarse}")
		r := report(t, Plan{Task: named, Observations: []int{8}, Repeats: repeats, Seed: seed, Noises: []float64{0.1}})
		for _, line := range r.Lines {
			if line.Found.HasValues || line.Bound || line.Found.Found > line.Baseline.Found+1 {
				t.Errorf("%s: %s", strategy, line.Text())
			}
		}
		told := r.lineOf(t, "the middle of what the last cell has of the cube").Found.BestInput
		names := r.lineOf(t, "what the last cells under five names of the task have in common").Found.BestInput
		if told < 0.04 || told > coarsen.Cell || names < 0.04 || names > coarsen.Cell {
			t.Errorf("%s: the best input to %.2g from the last cell, to %.2g from five", strategy, told, names)
		}
	}
}
