package privacy

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// release is the whole path of one release, with the slips that the audit must see.
type release struct {
	sigma     int64
	unclipped bool
	reused    bool // the noise stream starts anew for each release
}

// audit plays two worlds that differ in one contribution, at opposite points of the
// clip boundary or beyond it, and returns a lower bound on ε at delta with 99.9 %
// confidence (Clopper, Pearson): the best over events "the first coordinate is above
// a threshold", tried on a grid and corrected for it.
func audit(t *testing.T, grid Grid, r release, delta float64, n int) float64 {
	t.Helper()
	const thresholds = 41
	var above [2][thresholds]int
	for world := range 2 {
		weights := []float64{3 * grid.Norm, 0}
		if world == 1 {
			weights[0] = -weights[0]
		}
		sampler := mustSampler(t, r.sigma, seeded(uint64(100+world)))
		values := make([]int64, 2)
		for range n {
			if err := grid.Clip(values, weights); err != nil {
				t.Fatal(err)
			}
			if r.unclipped {
				values[0] *= 3
			}
			if r.reused {
				sampler = mustSampler(t, r.sigma, seeded(7))
			}
			if err := sampler.AddTo(values); err != nil {
				t.Fatal(err)
			}
			x := float64(values[0]) / float64(grid.Sensitivity(ReplaceOne))
			for i := range thresholds {
				if x > (float64(i)-20)/4 {
					above[world][i]++
				}
			}
		}
	}
	best, tail := math.Inf(-1), 0.001/2/thresholds
	for i := range thresholds {
		likely, unlikely := float64(above[0][i]), float64(above[1][i])
		low, high := 0.0, 1.0
		if likely > 0 {
			low = distuv.Beta{Alpha: likely, Beta: float64(n) - likely + 1}.Quantile(tail)
		}
		if unlikely < float64(n) {
			high = distuv.Beta{Alpha: unlikely + 1, Beta: float64(n) - unlikely}.Quantile(1 - tail)
		}
		if low > delta {
			best = max(best, math.Log((low-delta)/high))
		}
	}
	return best
}

// The promised ε = 1 at δ = 0.02 is neither broken nor far from what can be shown;
// n = 40000 in each world. Each slip breaks it visibly.
func TestAuditAtTheClipBoundary(t *testing.T) {
	const epsilon, delta, n = 1.0, 0.02, 40_000
	p := Plan{Grid: Grid{Norm: 2, Bits: 30}, Dimension: 2, Rate: 1, Releases: 1, Parties: 1}
	promise := Promise{Epsilon: epsilon, Delta: delta, Bound: Tight}
	sigma, err := p.Sigma(promise)
	if err != nil {
		t.Fatal(err)
	}
	if shown := audit(t, p.Grid, release{sigma: sigma}, delta, n); shown > epsilon || shown < 0.7*epsilon {
		t.Errorf("the audit shows ε ≥ %.3f, want between %g and %g", shown, 0.7*epsilon, epsilon)
	}
	zeroOut := p
	zeroOut.Adjacency = ZeroOut
	tooSmall, err := zeroOut.Sigma(promise)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]release{
		"half the noise":              {sigma: sigma / 2},
		"no clip":                     {sigma: sigma, unclipped: true},
		"sensitivity S, 2S being due": {sigma: tooSmall},
		"reused noise":                {sigma: sigma, reused: true},
	} {
		if shown := audit(t, p.Grid, r, delta, n/4); shown <= epsilon {
			t.Errorf("%s: the audit shows only ε ≥ %.3f", name, shown)
		}
	}
}

// The attack on noise in floats: x + noise computed in floats takes, for two inputs,
// sets of values that hardly meet. In integers all residues are as likely for one
// input as for the other; n = 50000, level 1e-4.
func TestLowBitsTellNothing(t *testing.T) {
	grid := Grid{Norm: 1, Bits: 30}
	sampler := mustSampler(t, 3_000_000_001, seeded(11))
	for _, weight := range []float64{0, 0.1, 1.0 / 3, 1} {
		residues := map[int64]int{}
		values := make([]int64, 1)
		for range 50_000 {
			if err := grid.Clip(values, []float64{weight}); err != nil {
				t.Fatal(err)
			}
			if err := sampler.AddTo(values); err != nil {
				t.Fatal(err)
			}
			residues[values[0]&127]++
		}
		uniform := make([]float64, 128)
		for i := range uniform {
			uniform[i] = 1.0 / 128
		}
		if p := chiSquare(t, residues, uniform, 0); p < 1e-4 {
			t.Errorf("weight %g: residues are not uniform, p-value %g", weight, p)
		}
	}
}
