package gp

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
)

// A posterior that grew, some points equal to others, is the one made at once,
// and growing does not change what it grew from.
func TestExtendIsConditioningAnew(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		spec := separate(rapid.SampledFrom(kernels).Draw(rt, "kernel"), rapid.IntRange(1, 4).Draw(rt, "d"))
		h := randomStart(len(spec.Groups), rng)
		total := rapid.IntRange(2, 30).Draw(rt, "t")
		first := rapid.IntRange(1, total).Draw(rt, "known")
		x := uniformPoints(total, len(spec.Groups), rng)
		for i := 1; i < total; i++ {
			if rng.IntN(4) == 0 {
				copy(x[i], x[i-1])
			}
		}
		y := make([]float64, total)
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		before := slices.Clone(y[:first])
		for i := range before {
			before[i] = 2*before[i] + 1 // other units
		}
		grown, err := NewPosterior(spec, x[:first], before, h)
		if err != nil {
			rt.Fatal(err)
		}
		at := uniformPoints(1, len(spec.Groups), rng)[0]
		meanBefore, varianceBefore := grown.Predict(at)
		one, err := grown.Extend(x[:min(first+1, total)], y[:min(first+1, total)])
		if err != nil {
			rt.Fatal(err)
		}
		all, err := one.Extend(x, y)
		if err != nil {
			rt.Fatal(err)
		}
		if m, v := grown.Predict(at); m != meanBefore || v != varianceBefore {
			rt.Fatal("extending changed the posterior that was extended")
		}
		anew, err := NewPosterior(spec, x, y, h)
		if err != nil {
			rt.Fatal(err)
		}
		mean, variance := all.Predict(at)
		wantMean, wantVariance := anew.Predict(at)
		if math.Abs(mean-wantMean) > 1e-7*(1+math.Abs(wantMean)) || math.Abs(variance-wantVariance) > 1e-7 {
			rt.Fatalf("mean %g, variance %g; anew %g, %g", mean, variance, wantMean, wantVariance)
		}
		draw, want := all.Draw(32, random.SeedOf(1).Stream("draw", 0)), anew.Draw(32, random.SeedOf(1).Stream("draw", 0))
		if a, b := draw.Value(at), want.Value(at); math.Abs(a-b) > 1e-6*(1+math.Abs(b)) {
			rt.Fatalf("draw %g, anew %g", a, b)
		}
	})
}

func TestExtendWithOtherPoints(t *testing.T) {
	spec, h := separate(SE, 1), Hyperparameters{Lengthscales: []float64{0.3}, Noise: 0.01}
	p, err := NewPosterior(spec, [][]float64{{0.1}, {0.5}}, []float64{0, 1}, h)
	if err != nil {
		t.Fatal(err)
	}
	x, y := [][]float64{{0.5}, {0.1}, {0.9}}, []float64{1, 0, 2}
	got, err := p.Extend(x, y)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := NewPosterior(spec, x, y, h)
	mean, variance := got.Predict([]float64{0.7})
	if m, v := want.Predict([]float64{0.7}); m != mean || v != variance {
		t.Errorf("got %g, %g; want %g, %g", mean, variance, m, v)
	}
	if _, err := p.Extend(x, []float64{1, math.NaN(), 0}); err == nil {
		t.Error("NaN accepted")
	}
}

func TestGradientOfPrediction(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		spec := Spec{Kernel: rapid.SampledFrom(kernels).Draw(rt, "kernel"), Groups: []int{0, 1, 1}}
		x := uniformPoints(8, 3, rng)
		y := make([]float64, len(x))
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		p, err := NewPosterior(spec, x, y, Hyperparameters{Lengthscales: []float64{0.3, 1}, Noise: 0.01})
		if err != nil {
			rt.Fatal(err)
		}
		at := uniformPoints(1, 3, rng)[0]
		meanGradient, varianceGradient := make([]float64, 3), make([]float64, 3)
		mean, variance := p.PredictGradient(meanGradient, varianceGradient, at)
		if m, v := p.Predict(at); math.Abs(m-mean) > 1e-12*(1+math.Abs(m)) || math.Abs(v-variance) > 1e-12 {
			rt.Fatalf("predicts %g, %g; with gradients %g, %g", m, v, mean, variance)
		}
		fbotest.CheckGradient(rt, meanGradient, at, func(x []float64) float64 { m, _ := p.Predict(x); return m }, 1e-4)
		fbotest.CheckGradient(rt, varianceGradient, at, func(x []float64) float64 { _, v := p.Predict(x); return v }, 1e-4)
	})
}

// Of 1,000 observations Fit looks at some, and finds about what it finds with
// all of those that generated the same function.
func TestFitOfThousandObservations(t *testing.T) {
	rng := random.SeedOf(4).Stream("t", 0)
	spec := separate(Matern52, 1)
	x := uniformPoints(1000, 1, rng)
	y := make([]float64, len(x))
	for i := range y {
		y[i] = math.Sin(6*x[i][0]) + 0.1*rng.NormFloat64()
	}
	h, err := Fit(t.Context(), spec, x, y, nil, rng)
	if err != nil {
		t.Fatal(err)
	}
	if h.Noise < 0.007 || h.Noise > 0.014 {
		t.Errorf("noise %g, generated with 0.01", h.Noise)
	}
	p, err := NewPosterior(spec, x, y, h)
	if err != nil {
		t.Fatal(err)
	}
	for u := 0.05; u < 1; u += 0.1 {
		if mean, _ := p.Predict([]float64{u}); math.Abs(mean-math.Sin(6*u)) > 0.05 {
			t.Errorf("mean at %g is %g, the function %g", u, mean, math.Sin(6*u))
		}
	}
}
