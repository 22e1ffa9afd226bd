package gp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Leaving an observation out is what conditioning on the others says.
func TestLeaveOneOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	spec := Spec{Kernel: Matern52, Groups: []int{0, 1}}
	h := Hyperparameters{Lengthscales: []float64{0.3, 0.6}, Noise: 0.02}
	var x [][]float64
	var y []float64
	for range 12 {
		x = append(x, []float64{rng.Float64(), rng.Float64()})
		y = append(y, rng.NormFloat64())
	}
	p, err := NewPosterior(spec, x, y, h)
	if err != nil {
		t.Fatal(err)
	}
	for i, z := range p.LeaveOneOut() {
		others, err := NewPosterior(spec, slices.Delete(slices.Clone(x), i, i+1), slices.Delete(slices.Clone(y), i, i+1), h)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := others.Predict(x[i])
		if want := (y[i] - mean) / math.Sqrt(variance+h.Noise); math.Abs(z-want) > 1e-9 {
			t.Errorf("observation %d is %g deviations off, want %g", i, z, want)
		}
	}
}
