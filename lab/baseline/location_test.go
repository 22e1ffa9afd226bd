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
		got := heaviest(points, filled(len(points), 1), 2, rng)
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
	if got := heaviest(points, filled(3, 1), 4, random.SeedOf(1).Stream("points", 0)); got.mean[0] != 0.5 || got.weight != 1 || !(got.variance[0] > 0) {
		t.Errorf("%+v, want weight 1 at 0.5", got)
	}
}

// A point that occurs several times counts as often.
func TestRepeatedPointsCountAsOften(t *testing.T) {
	rng := random.SeedOf(1).Stream("points", 0)
	var points, all [][]float64
	var times []float64
	for range 30 {
		p, n := []float64{rng.Float64(), rng.Float64()}, 1+rng.IntN(4)
		points, times = append(points, p), append(times, float64(n))
		for range n {
			all = append(all, p)
		}
	}
	got := heaviest(points, times, 1, random.SeedOf(2).Stream("start", 0))
	want := heaviest(all, filled(len(all), 1), 1, random.SeedOf(2).Stream("start", 0))
	if math.Abs(got.mean[0]-want.mean[0]) > 1e-9 || math.Abs(got.variance[1]-want.variance[1]) > 1e-9 {
		t.Errorf("%+v, expected %+v", got, want)
	}
}

func filled(n int, v float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v
	}
	return all
}
