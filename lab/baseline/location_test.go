package baseline

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
)

// Two thirds of the points are around one place, the others around another.
func TestHeaviestComponent(t *testing.T) {
	for seed := range uint64(10) {
		rng := random.SeedOf(seed).Stream("points", 0)
		var points [][]float64
		for n := range 300 {
			centre, sd := 0.2, 0.02
			if n%3 == 0 {
				centre, sd = 0.8, 0.05
			}
			points = append(points, []float64{centre + sd*rng.NormFloat64(), 1 - centre + 2*sd*rng.NormFloat64()})
		}
		got := heaviest(points, 2, rng)
		if math.Abs(got.mean[0]-0.2) > 0.01 || math.Abs(got.mean[1]-0.8) > 0.02 || math.Abs(got.weight-2./3) > 0.05 {
			t.Errorf("seed %d: weight %g at %v, want 0.67 at 0.2, 0.8", seed, got.weight, got.mean)
		}
		// The prior adds about the variance of all points divided by 200.
		for i, sd := range []float64{0.02, 0.04} {
			if v := got.variance[i]; v < 0.5*sd*sd || v > sd*sd+0.002 {
				t.Errorf("seed %d: variance %g of coordinate %d, want about %g", seed, v, i, sd*sd)
			}
		}
	}
}

func TestHeaviestComponentOfEqualPoints(t *testing.T) {
	points := [][]float64{{0.5}, {0.5}, {0.5}}
	if got := heaviest(points, 4, random.SeedOf(1).Stream("points", 0)); got.mean[0] != 0.5 || got.weight != 1 || !(got.variance[0] > 0) {
		t.Errorf("%+v, want weight 1 at 0.5", got)
	}
}
