package gp_test

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// Observations with noise of their own, added one after the other, make the posterior that all
// make together.
func TestExtendUnequal(t *testing.T) {
	spec := gp.Spec{Kernel: "matern52", Groups: []int{0, 1}}
	x := [][]float64{{0.1, 0.2}, {0.8, 0.3}, {0.5, 0.9}, {0.4, 0.1}}
	y, noise := []float64{0.3, -1, 0.6, 0.2}, []float64{0.01, 0.2, 0.05, 0.4}
	h := gp.Hyperparameters{Lengthscales: []float64{0.4, 0.6}, Noise: 0.02}
	want, err := gp.NewUnequalPosterior(spec, x, y, h, noise)
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range []int{0, 2, 4} {
		p, err := gp.NewUnequalPosterior(spec, x[:first], y[:first], h, noise[:first])
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.ExtendUnequal(x, y, noise[first:])
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range [][]float64{{0.1, 0.2}, {0.45, 0.5}, {0.4, 0.1}} {
			mean, variance := got.Predict(at)
			if m, v := want.Predict(at); math.Abs(mean-m) > 1e-9 || math.Abs(variance-v) > 1e-9 {
				t.Errorf("from %d observations, at %v: %g, %g, want %g, %g", first, at, mean, variance, m, v)
			}
		}
	}
	p, err := gp.NewPosterior(spec, x[:2], y[:2], h)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range [][]float64{{0.1}, {0.1, 0}, {0.1, math.NaN()}} {
		if _, err := p.ExtendUnequal(x, y, wrong); err == nil {
			t.Errorf("noise %v of two observations is accepted", wrong)
		}
	}
}
