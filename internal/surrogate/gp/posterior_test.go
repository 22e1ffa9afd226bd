package gp

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
)

// The mean and the variance of 4,000 draws at five points must lie within 4.5
// standard errors of the prediction: 20 comparisons, so a right program fails
// once in 7,000 seeds (the seed is fixed). A mean wrong by a tenth of the
// standard deviation, or a variance wrong by 14 %, is 6 standard errors away
// and fails nearly always. The draws have 32 features on purpose: their moments
// must not depend on that number, although the fourth moment does, which is why
// the standard error of the variance is estimated from the draws.
func TestDrawsAgreeWithPredict(t *testing.T) {
	const draws = 4000
	for _, kernel := range kernels {
		t.Run(kernel, func(t *testing.T) {
			rng := random.SeedOf(11).Stream(kernel, 0)
			spec := separate(kernel, 2)
			x := uniformPoints(12, 2, rng)
			y := make([]float64, len(x))
			for i := range y {
				y[i] = math.Sin(5*x[i][0]) + x[i][1]
			}
			p, err := NewPosterior(spec, x, y, Hyperparameters{Lengthscales: []float64{0.3, 0.6}, Noise: 0.02})
			if err != nil {
				t.Fatal(err)
			}
			points := uniformPoints(5, 2, rng)
			sums := make([][4]float64, len(points))
			for range draws {
				f := p.Draw(32, rng)
				for i, point := range points {
					mean, _ := p.Predict(point)
					d := f.Value(point) - mean
					sums[i][0] += d / draws
					sums[i][1] += d * d / draws
					sums[i][3] += d * d * d * d / draws
				}
			}
			for i, point := range points {
				_, variance := p.Predict(point)
				bias, spread := sums[i][0], sums[i][1]
				if z := bias / math.Sqrt(variance/draws); math.Abs(z) > 4.5 {
					t.Errorf("point %d: mean is off by %g, %.1f standard errors", i, bias, z)
				}
				if z := (spread - variance) / math.Sqrt((sums[i][3]-spread*spread)/draws); math.Abs(z) > 4.5 {
					t.Errorf("point %d: variance %g, predicted %g, %.1f standard errors", i, spread, variance, z)
				}
			}
		})
	}
}

// Over 200 problems of known hyperparameters, 5 test points each, the share of
// true values inside two standard deviations is .954 for a right posterior. The
// points of one problem are dependent; counting each problem once gives a
// standard error of at most .015, so the interval of ±.03 fails a right program
// in fewer than one of 20 seeds (the seed is fixed), and one whose standard
// deviations are a quarter too small (coverage .87) nearly never passes.
func TestPosteriorCoverage(t *testing.T) {
	rng := random.SeedOf(5).Stream("t", 0)
	inside, total := 0, 0
	for problem := range 200 {
		spec := separate(kernels[problem%2], 1+problem%3)
		h := Hyperparameters{Noise: 0.01}
		for range spec.Groups {
			h.Lengthscales = append(h.Lengthscales, 0.2+0.5*rng.Float64())
		}
		points := uniformPoints(25, len(spec.Groups), rng)
		f := priorDraw(spec, h, points, rng)
		y := make([]float64, 20)
		for i := range y {
			y[i] = f[i] + 0.1*rng.NormFloat64()
		}
		p, err := NewPosterior(spec, points[:20], y, h)
		if err != nil {
			t.Fatal(err)
		}
		for i := 20; i < 25; i++ {
			mean, variance := p.Predict(points[i])
			total++
			if math.Abs(f[i]-mean) < 2*math.Sqrt(variance) {
				inside++
			}
		}
	}
	if share := float64(inside) / float64(total); share < 0.924 || share > 0.984 {
		t.Errorf("share inside two standard deviations is %.3f, want .954", share)
	}
}

func TestGradientOfDraw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		spec := Spec{Kernel: rapid.SampledFrom(kernels).Draw(rt, "kernel"), Groups: []int{0, 1, 1}}
		x := uniformPoints(6, 3, rng)
		h := Hyperparameters{Lengthscales: []float64{0.3, 1}, Noise: 0.01}
		p, err := NewPosterior(spec, x, []float64{1, 0, -1, 0.5, 2, 0}, h)
		if err != nil {
			rt.Fatal(err)
		}
		f := p.Draw(16, rng)
		at := uniformPoints(1, 3, rng)[0]
		grad := make([]float64, 3)
		if value := f.Gradient(grad, at); math.Abs(value-f.Value(at)) > 1e-12*(1+math.Abs(value)) {
			rt.Fatalf("value %g, with the gradient %g", f.Value(at), value)
		}
		fbotest.CheckGradient(rt, grad, at, f.Value, 1e-4)
	})
}

func TestPosteriorInterpolatesAndForgetsItsInputs(t *testing.T) {
	x := [][]float64{{0.1}, {0.5}, {0.9}}
	y := []float64{1, -1, 0.5}
	p, err := NewPosterior(separate(SE, 1), x, y, Hyperparameters{Lengthscales: []float64{0.2}, Noise: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		mean, variance := p.Predict([]float64{x[i][0]})
		if math.Abs(mean-y[i]) > 1e-4 || variance > 1e-4 {
			t.Errorf("at observation %d: mean %g, variance %g, want %g", i, mean, variance, y[i])
		}
	}
	before, _ := p.Predict([]float64{0.3})
	x[0][0], y[0] = 7, 7
	if after, _ := p.Predict([]float64{0.3}); after != before {
		t.Error("the posterior kept its caller's slices")
	}
}

func ExamplePosterior() {
	spec := Spec{Kernel: Matern52, Groups: []int{0}}
	x := [][]float64{{0.0}, {0.5}, {1.0}}
	y := []float64{-1, 1, 0} // standardised by the caller
	h := Hyperparameters{Lengthscales: []float64{0.3}, Noise: 1e-4}
	posterior, err := NewPosterior(spec, x, y, h)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, point := range []float64{0.5, 0.75} {
		mean, variance := posterior.Predict([]float64{point})
		fmt.Printf("f(%.2f) is near %.2f, give or take %.2f\n", point, mean, math.Sqrt(variance))
	}
	// Output:
	// f(0.50) is near 1.00, give or take 0.01
	// f(0.75) is near 0.58, give or take 0.60
}

func BenchmarkFit(b *testing.B) {
	for _, size := range []struct{ t, d int }{{30, 4}, {100, 6}} {
		b.Run(fmt.Sprintf("t=%d,d=%d", size.t, size.d), func(b *testing.B) {
			spec := separate(Matern52, size.d)
			rng := random.SeedOf(1).Stream("t", 0)
			x := uniformPoints(size.t, size.d, rng)
			h := priorMode(size.d)
			y := priorDraw(spec, h, x, rng)
			for b.Loop() {
				if _, err := Fit(b.Context(), spec, x, y, nil, rng); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, size := range []struct{ t, d int }{{30, 4}, {100, 6}} {
		spec := separate(Matern52, size.d)
		rng := random.SeedOf(1).Stream("t", 0)
		x := uniformPoints(size.t, size.d, rng)
		h := priorMode(size.d)
		p, err := NewPosterior(spec, x, priorDraw(spec, h, x, rng), h)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("t=%d,d=%d", size.t, size.d), func(b *testing.B) {
			for b.Loop() {
				p.Draw(512, rng)
			}
		})
		f, grad := p.Draw(512, rng), make([]float64, size.d)
		b.Run(fmt.Sprintf("gradient,t=%d,d=%d", size.t, size.d), func(b *testing.B) {
			for b.Loop() {
				f.Gradient(grad, x[0])
			}
		})
	}
}
