package gp

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/radial"
	"github.com/fbo-node/fbo/internal/random"
)

var kernels = []string{Matern52, SE}

func separate(kernel string, dim int) Spec {
	spec := Spec{Kernel: kernel}
	for i := range dim {
		spec.Groups = append(spec.Groups, i)
	}
	return spec
}

func uniformPoints(count, dim int, rng *rand.Rand) [][]float64 {
	points := make([][]float64, count)
	for i := range points {
		points[i] = make([]float64, dim)
		for k := range dim {
			points[i][k] = rng.Float64()
		}
	}
	return points
}

// priorDraw returns values of one function of the process at the points.
func priorDraw(spec Spec, h Hyperparameters, points [][]float64, rng *rand.Rand) []float64 {
	k := mat.NewSymDense(len(points), nil)
	for i, x := range points {
		for j, y := range points[:i+1] {
			square := 0.0
			for c, g := range spec.Groups {
				d := (x[c] - y[c]) / h.Lengthscales[g]
				square += d * d
			}
			value, _ := radial.Evaluate(spec.Kernel, square)
			k.SetSym(j, i, spec.meanVariance()+value)
		}
	}
	chol, _, err := factorise(k)
	if err != nil {
		panic(err)
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	z := mat.NewVecDense(len(points), nil)
	for i := range points {
		z.SetVec(i, rng.NormFloat64())
	}
	var values mat.VecDense
	values.MulVec(&lower, z)
	return values.RawVector().Data
}

// logPosterior returns what Fit maximises, and its gradient.
func logPosterior(spec Spec, x [][]float64, y []float64, h Hyperparameters) (value float64, gradient []float64, err error) {
	gradient = make([]float64, len(h.Lengthscales)+1)
	value, err = newEvidence(spec, x, y).logPosterior(gradient, h)
	return value, gradient, err
}

func TestGradientOfLogPosterior(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		spec := Spec{Kernel: rapid.SampledFrom(kernels).Draw(rt, "kernel"), Groups: []int{0, 1, 1, 2}}
		x := uniformPoints(rapid.IntRange(1, 8).Draw(rt, "t"), 4, rng)
		y := make([]float64, len(x))
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		h := Hyperparameters{Noise: 0.05 * math.Exp(rng.NormFloat64())}
		for range 3 {
			h.Lengthscales = append(h.Lengthscales, 0.5*math.Exp(0.7*rng.NormFloat64()))
		}
		_, gradient, err := logPosterior(spec, x, y, h)
		if err != nil {
			rt.Fatal(err)
		}
		for i, got := range gradient {
			const step = 1e-5
			value := func(sign float64) float64 {
				moved := Hyperparameters{Lengthscales: append([]float64(nil), h.Lengthscales...), Noise: h.Noise}
				if i < 3 {
					moved.Lengthscales[i] *= math.Exp(sign * step)
				} else {
					moved.Noise *= math.Exp(sign * step)
				}
				value, _, err := logPosterior(spec, x, y, moved)
				if err != nil {
					rt.Fatal(err)
				}
				return value
			}
			want := (value(1) - value(-1)) / (2 * step)
			if math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
				rt.Fatalf("parameter %d: gradient %g, finite difference %g", i, got, want)
			}
		}
	})
}

func TestFitFindsWhatGeneratedTheData(t *testing.T) {
	spec := separate(Matern52, 2)
	rng := random.SeedOf(3).Stream("t", 0)
	x := uniformPoints(80, 2, rng)
	y := priorDraw(spec, Hyperparameters{Lengthscales: []float64{0.2, 2}}, x, rng)
	for i := range y {
		y[i] += 0.1 * rng.NormFloat64()
	}
	h, err := Fit(t.Context(), spec, x, y, nil, rng)
	if err != nil {
		t.Fatal(err)
	}
	if h.Lengthscales[0] > 0.5 || h.Lengthscales[1] < 0.8 || h.Noise < 0.003 || h.Noise > 0.03 {
		t.Errorf("fit %+v; the data have lengthscales 0.2 and 2, noise 0.01", h)
	}
	// The optimum: no start of many does better, and the gradient vanishes.
	best, gradient, _ := logPosterior(spec, x, y, h)
	for i, g := range gradient {
		if math.Abs(g) > 0.05 {
			t.Errorf("gradient %d is %g at the optimum", i, g)
		}
	}
	for range 20 {
		again, err := Fit(t.Context(), spec, x, y, []Hyperparameters{randomStart(2, rng)}, rng)
		if err != nil {
			t.Fatal(err)
		}
		if value, _, _ := logPosterior(spec, x, y, again); value > best+0.05 {
			t.Errorf("a random start reached %g, the fit %g", value, best)
		}
	}
}

// One observation at each of eight places that alternate has two maxima: all is signal with a short
// lengthscale, or all is noise. FitFrom stays in that of its start.
func TestFitFromStaysNear(t *testing.T) {
	spec := separate(SE, 1)
	var x [][]float64
	var y []float64
	for i := range 8 {
		x, y = append(x, []float64{float64(i) / 7}), append(y, float64(2*(i%2)-1))
	}
	rng := random.SeedOf(1).Stream("t", 0)
	var noise []float64
	for _, start := range []Hyperparameters{{Lengthscales: []float64{0.05}, Noise: 1e-4}, {Lengthscales: []float64{3}, Noise: 1}} {
		h, err := FitFrom(t.Context(), spec, x, y, start, rng)
		if err != nil {
			t.Fatal(err)
		}
		_, gradient, _ := logPosterior(spec, x, y, h)
		for i, g := range gradient {
			if math.Abs(g) > 0.05 {
				t.Errorf("from %+v: gradient %d is %g at %+v", start, i, g, h)
			}
		}
		noise = append(noise, h.Noise)
	}
	if noise[0] > 0.1 || noise[1] < 0.3 {
		t.Errorf("noise %g from a small one and %g from a large one, want below 0.1 and above 0.3", noise[0], noise[1])
	}
	if _, err := FitFrom(t.Context(), spec, x, y, Hyperparameters{}, rng); err == nil {
		t.Error("a start without lengthscales: no error")
	}
}

func TestFitIsDeterministicAndKeepsFloors(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := random.SeedOf(rapid.Uint64().Draw(rt, "seed"))
		rng := seed.Stream("data", 0)
		spec := separate(rapid.SampledFrom(kernels).Draw(rt, "kernel"), rapid.IntRange(1, 4).Draw(rt, "d"))
		x := uniformPoints(rapid.IntRange(1, 12).Draw(rt, "t"), len(spec.Groups), rng)
		y := make([]float64, len(x))
		for i := range y {
			y[i] = rng.NormFloat64()
			if i > 0 && rng.IntN(3) == 0 {
				copy(x[i], x[i-1])
			}
		}
		first, err := Fit(t.Context(), spec, x, y, nil, seed.Stream("fit", 0))
		if err != nil {
			rt.Fatal(err)
		}
		second, _ := Fit(t.Context(), spec, x, y, nil, seed.Stream("fit", 0))
		for g, l := range first.Lengthscales {
			if l != second.Lengthscales[g] || l < lengthscaleFloor {
				rt.Fatalf("lengthscale %d: %g, again %g", g, l, second.Lengthscales[g])
			}
		}
		if first.Noise != second.Noise || first.Noise < NoiseFloor {
			rt.Fatalf("noise %g, again %g", first.Noise, second.Noise)
		}
		// Started at its own result it must not become worse.
		warm, err := Fit(t.Context(), spec, x, y, []Hyperparameters{first}, seed.Stream("fit", 0))
		if err != nil {
			rt.Fatal(err)
		}
		before, _, _ := logPosterior(spec, x, y, first)
		after, _, _ := logPosterior(spec, x, y, warm)
		if after < before-0.1 {
			rt.Fatalf("warm start fell from %g to %g", before, after)
		}
	})
}

func TestFitOfHardData(t *testing.T) {
	spec := separate(Matern52, 2)
	point := []float64{0.3, 0.7}
	tests := map[string]struct {
		x [][]float64
		y []float64
	}{
		"one":               {[][]float64{point}, []float64{0}},
		"two":               {[][]float64{point, {0.1, 0.1}}, []float64{-0.7, 0.7}},
		"constant":          {[][]float64{point, {0.1, 0.1}, {0.5, 0.5}}, []float64{0, 0, 0}},
		"same point":        {[][]float64{point, point, point, point}, []float64{1, 1, 1, 1}},
		"same, other value": {[][]float64{point, point, point, point}, []float64{-1, 1, -1, 1}},
		"outlier":           {[][]float64{point, {0.31, 0.7}, {0.5, 0.5}}, []float64{1e6, 0, 0}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rng := random.SeedOf(1).Stream("t", 0)
			h, err := Fit(t.Context(), spec, test.x, test.y, nil, rng)
			if err != nil {
				t.Fatal(err)
			}
			p, err := NewPosterior(spec, test.x, test.y, h)
			if err != nil {
				t.Fatal(err)
			}
			mean, variance := p.Predict([]float64{0.2, 0.2})
			value := p.Draw(64, rng).Value([]float64{0.2, 0.2})
			for _, v := range []float64{mean, variance, value} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("mean %g, variance %g, draw %g", mean, variance, value)
				}
			}
		})
	}
}

func TestFitAndConditionReject(t *testing.T) {
	good := separate(SE, 1)
	h := Hyperparameters{Lengthscales: []float64{1}, Noise: 0.1}
	tests := map[string]struct {
		spec Spec
		x    [][]float64
		y    []float64
		h    Hyperparameters
	}{
		"kernel":       {Spec{Kernel: "rbf", Groups: []int{0}}, [][]float64{{0}}, []float64{0}, h},
		"group":        {Spec{Kernel: SE, Groups: []int{1}}, [][]float64{{0}}, []float64{0}, h},
		"no groups":    {Spec{Kernel: SE}, [][]float64{{}}, []float64{0}, h},
		"lengths":      {good, [][]float64{{0}}, []float64{0, 1}, h},
		"coordinates":  {good, [][]float64{{0, 1}}, []float64{0}, h},
		"NaN":          {good, [][]float64{{0}}, []float64{math.NaN()}, h},
		"infinite":     {good, [][]float64{{math.Inf(1)}}, []float64{0}, h},
		"lengthscale":  {good, [][]float64{{0}}, []float64{0}, Hyperparameters{Lengthscales: []float64{0}, Noise: 0.1}},
		"lengthscales": {good, [][]float64{{0}}, []float64{0}, Hyperparameters{Noise: 0.1}},
		"noise":        {good, [][]float64{{0}}, []float64{0}, Hyperparameters{Lengthscales: []float64{1}, Noise: 0}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := NewPosterior(test.spec, test.x, test.y, test.h); err == nil {
				t.Error("accepted")
			}
		})
	}
	_, err := NewPosterior(good, [][]float64{{0}}, []float64{math.NaN()}, h)
	if !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
}

func TestFactoriseAddsJitter(t *testing.T) {
	singular := mat.NewSymDense(2, []float64{1, 1, 1, 1})
	if _, _, err := factorise(singular); err != nil {
		t.Errorf("a singular matrix needs only jitter: %v", err)
	}
	if _, _, err := factorise(mat.NewSymDense(2, []float64{1, 2, 2, 1})); !errors.Is(err, ErrNotPositiveDefinite) {
		t.Errorf("an indefinite matrix: %v", err)
	}
	if _, _, err := factorise(mat.NewSymDense(1, []float64{math.NaN()})); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
}
