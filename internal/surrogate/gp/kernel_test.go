package gp

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/radial"
	"github.com/fbo-node/fbo/internal/random"
)

// Covariances of any points are those of some process: no eigenvalue is
// negative, up to rounding.
func TestKernelsArePositiveDefinite(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		spec := separate(rapid.SampledFrom(kernels).Draw(rt, "kernel"), rapid.IntRange(1, 6).Draw(rt, "d"))
		x := uniformPoints(rapid.IntRange(2, 25).Draw(rt, "t"), len(spec.Groups), rng)
		k := mat.NewSymDense(len(x), nil)
		for i := range x {
			for j := range i + 1 {
				square := 0.0
				for c := range spec.Groups {
					d := (x[i][c] - x[j][c]) / 0.4
					square += d * d
				}
				value, _ := radial.Evaluate(spec.Kernel, square)
				k.SetSym(j, i, value)
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(k, false) {
			rt.Fatal("no eigenvalues")
		}
		for _, v := range eigen.Values(nil) {
			if v < -1e-12*float64(len(x)) {
				rt.Fatalf("eigenvalue %g", v)
			}
		}
	})
}

// The variance is never negative nor above the prior's, and with next to no
// noise the process passes through the observations.
func TestVarianceAndInterpolation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		spec := separate(rapid.SampledFrom(kernels).Draw(rt, "kernel"), rapid.IntRange(1, 4).Draw(rt, "d"))
		x := uniformPoints(rapid.IntRange(1, 15).Draw(rt, "t"), len(spec.Groups), rng)
		h := Hyperparameters{Noise: 1e-10}
		for range spec.Groups {
			h.Lengthscales = append(h.Lengthscales, 0.1)
		}
		y := priorDraw(spec, h, x, rng)
		p, err := NewPosterior(spec, x, y, h)
		if err != nil {
			rt.Fatal(err)
		}
		// The residual is n·C⁻¹y for noise n on the diagonal, jitter included, and
		// yᵀC⁻¹y is about t for a draw from the process: so it is at most about
		// sqrt(n·t).
		noise := h.Noise
		if p.jittered {
			noise = 10 * firstJitter * spec.priorVariance()
		}
		bound := 5 * math.Sqrt(noise*float64(len(x)))
		for i := range x {
			if mean, variance := p.Predict(x[i]); math.Abs(mean-y[i]) > bound || variance > bound {
				rt.Fatalf("mean %g and variance %g where %g was observed", mean, variance, y[i])
			}
		}
		for _, at := range uniformPoints(20, len(spec.Groups), rng) {
			if _, variance := p.Predict(at); variance < 0 || variance > spec.priorVariance() {
				rt.Fatalf("variance %g", variance)
			}
		}
	})
}
