package rff

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/random"
)

// moments returns the mean of a draw and its covariance, exactly: a draw is an
// affine function of standard normal numbers, probed with unit vectors.
func moments(p *Posterior) (mean []float64, covariance *mat.Dense) {
	mean = p.transform(make([]float64, p.normals()))
	a := mat.NewDense(len(mean), p.normals(), nil)
	for j := range p.normals() {
		z := make([]float64, p.normals())
		z[j] = 1
		for i, w := range p.transform(z) {
			a.Set(i, j, w-mean[i])
		}
	}
	covariance = new(mat.Dense)
	covariance.Mul(a, a.T())
	return mean, covariance
}

// Both forms must give the distribution of equation 3, whichever is cheaper.
func TestDualAndPrimalAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		m, err := NewMap(random.SeedOf(rng.Uint64()), Spec{SE, 12, []float64{0.3, 0.5}})
		if err != nil {
			rt.Fatal(err)
		}
		x := uniformPoints(rapid.IntRange(1, 25).Draw(rt, "t"), 2, rng)
		y := make([]float64, len(x))
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		v := rapid.Float64Range(0.1, 4).Draw(rt, "v")
		noise := rapid.Float64Range(1e-3, 1).Draw(rt, "noise")
		dual, err := newPosterior(m, x, y, v, noise, true)
		if err != nil {
			rt.Fatal(err)
		}
		primal, err := newPosterior(m, x, y, v, noise, false)
		if err != nil {
			rt.Fatal(err)
		}
		checkEquationThree(rt, m, x, y, v, noise, dual)
		checkEquationThree(rt, m, x, y, v, noise, primal)
		for _, at := range uniformPoints(3, 2, rng) {
			mean1, variance1 := dual.Predict(at)
			mean2, variance2 := primal.Predict(at)
			if math.Abs(mean1-mean2) > 1e-8 || math.Abs(variance1-variance2) > 1e-8 {
				rt.Fatalf("dual predicts %g, %g; primal %g, %g", mean1, variance1, mean2, variance2)
			}
		}
		e1, _ := newEvidence(m, x, y, true)
		e2, _ := newEvidence(m, x, y, false)
		log1, err1 := e1.Log(v, noise)
		log2, err2 := e2.Log(v, noise)
		if err1 != nil || err2 != nil || math.Abs(log1-log2) > 1e-6*(1+math.Abs(log1)) {
			rt.Fatalf("log evidence: dual %g, %v; primal %g, %v", log1, err1, log2, err2)
		}
	})
}

// checkEquationThree compares with the plain formula, by an explicit inverse.
func checkEquationThree(rt *rapid.T, m *Map, x [][]float64, y []float64, v, noise float64, p *Posterior) {
	phi := m.matrix(x)
	var sigma, inverse mat.Dense
	sigma.Mul(phi.T(), phi)
	for i := range m.Features() {
		sigma.Set(i, i, sigma.At(i, i)+noise/v)
	}
	if err := inverse.Inverse(&sigma); err != nil {
		rt.Fatal(err)
	}
	var moment, nu mat.VecDense
	moment.MulVec(phi.T(), mat.NewVecDense(len(y), y))
	nu.MulVec(&inverse, &moment)
	inverse.Scale(noise, &inverse)
	mean, covariance := moments(p)
	for i := range mean {
		for _, got := range []float64{mean[i], p.Mean()[i]} {
			if math.Abs(got-nu.AtVec(i)) > 1e-7 {
				rt.Fatalf("dual %t: mean %d is %g, equation 3 has %g", p.dual, i, got, nu.AtVec(i))
			}
		}
		for j := range mean {
			if got, want := covariance.At(i, j), inverse.At(i, j); math.Abs(got-want) > 1e-7 {
				rt.Fatalf("dual %t: covariance %d, %d is %g, equation 3 has %g", p.dual, i, j, got, want)
			}
		}
	}
}

func TestEvidenceOfOneObservation(t *testing.T) {
	m := newTestMap(t, Spec{SE, 8, []float64{1}}, 1)
	// phi·phi = 1, so y ~ N(0, v + noise).
	got, err := LogEvidence(m, [][]float64{{0.3}}, []float64{1.5}, 2, 0.5)
	want := -0.5 * (1.5*1.5/2.5 + math.Log(2*math.Pi*2.5))
	if err != nil || math.Abs(got-want) > 1e-12 {
		t.Errorf("log evidence %g, %v; want %g", got, err, want)
	}
}

func TestPosteriorRejects(t *testing.T) {
	m := newTestMap(t, Spec{SE, 4, []float64{1}}, 1)
	point := [][]float64{{0.5}}
	for name, test := range map[string]struct {
		x        [][]float64
		y        []float64
		v, noise float64
	}{
		"none":        {nil, nil, 1, 1},
		"lengths":     {point, []float64{1, 2}, 1, 1},
		"coordinates": {[][]float64{{1, 2}}, []float64{1}, 1, 1},
		"NaN":         {point, []float64{math.NaN()}, 1, 1},
		"infinite":    {[][]float64{{math.Inf(1)}}, []float64{1}, 1, 1},
		"v":           {point, []float64{1}, 0, 1},
		"noise":       {point, []float64{1}, 1, math.NaN()},
	} {
		if _, err := NewPosterior(m, test.x, test.y, test.v, test.noise); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if _, err := LogEvidence(m, test.x, test.y, test.v, test.noise); err == nil {
			t.Errorf("%s: accepted by LogEvidence", name)
		}
	}
	if _, err := NewPosterior(m, point, []float64{math.NaN()}, 1, 1); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
}

func TestProjectionIsNearest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		m, err := NewMap(random.SeedOf(rng.Uint64()), Spec{Matern52, 10, []float64{0.5, 0.5}})
		if err != nil {
			rt.Fatal(err)
		}
		points := uniformPoints(rapid.IntRange(1, 30).Draw(rt, "points"), 2, rng)
		ridge := rapid.Float64Range(0.01, 1).Draw(rt, "ridge")
		p, err := NewProjection(m, points, ridge)
		if err != nil {
			rt.Fatal(err)
		}
		values := make([]float64, p.Len())
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		loss := func(w []float64) float64 {
			f, sum := m.Function(w), 0.0
			for i, x := range p.Points() {
				sum += math.Pow(f.Value(x)-values[i], 2)
			}
			for _, v := range w {
				sum += ridge * v * v
			}
			return sum
		}
		w := p.Project(values)
		least := loss(w)
		for i := range w {
			for _, step := range []float64{-1e-3, 1e-3} {
				w[i] += step
				if loss(w) < least {
					rt.Fatalf("moving weight %d by %g lowers the loss", i, step)
				}
				w[i] -= step
			}
		}
	})
}

func TestProjectionRecoversItsOwnFunctions(t *testing.T) {
	rng := random.SeedOf(1).Stream("t", 0)
	m := newTestMap(t, Spec{SE, 64, []float64{0.3, 0.3}}, 1)
	p, err := NewProjection(m, uniformPoints(400, 2, rng), 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, 64)
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	f := m.Function(w)
	values := make([]float64, p.Len())
	for i := range values {
		values[i] = f.Value(p.Point(i))
	}
	g := m.Function(p.Project(values))
	for _, x := range uniformPoints(50, 2, rng) {
		if math.Abs(f.Value(x)-g.Value(x)) > 1e-2 {
			t.Errorf("f = %g, its projection %g", f.Value(x), g.Value(x))
		}
	}
}

func TestProjectionRejects(t *testing.T) {
	m := newTestMap(t, Spec{SE, 4, []float64{1}}, 1)
	for name, call := range map[string]func() error{
		"none":        func() error { _, err := NewProjection(m, nil, 1); return err },
		"ridge":       func() error { _, err := NewProjection(m, [][]float64{{0}}, 0); return err },
		"coordinates": func() error { _, err := NewProjection(m, [][]float64{{0, 0}}, 1); return err },
		"NaN":         func() error { _, err := NewProjection(m, [][]float64{{math.NaN()}}, 1); return err },
	} {
		if call() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkPosterior(b *testing.B) {
	for _, size := range []struct{ t, features int }{{30, 256}, {100, 1000}, {500, 256}} {
		rng := random.SeedOf(1).Stream("t", 0)
		m := newTestMap(b, Spec{Matern52, size.features, []float64{0.5, 0.5, 0.5, 0.5}}, 1)
		x := uniformPoints(size.t, 4, rng)
		y := make([]float64, size.t)
		name := fmt.Sprintf("t=%d,M=%d", size.t, size.features)
		b.Run("new,"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := NewPosterior(m, x, y, 1, 0.01); err != nil {
					b.Fatal(err)
				}
			}
		})
		p, err := NewPosterior(m, x, y, 1, 0.01)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("weights,"+name, func(b *testing.B) {
			for b.Loop() {
				p.Weights(rng)
			}
		})
	}
}

func BenchmarkFunction(b *testing.B) {
	for _, features := range []int{256, 1000} {
		m := newTestMap(b, Spec{Matern52, features, []float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5}}, 1)
		f, x, grad := m.Function(make([]float64, features)), make([]float64, 6), make([]float64, 6)
		b.Run(fmt.Sprintf("value,d=6,M=%d", features), func(b *testing.B) {
			for b.Loop() {
				f.Value(x)
			}
		})
		b.Run(fmt.Sprintf("gradient,d=6,M=%d", features), func(b *testing.B) {
			for b.Loop() {
				f.Gradient(grad, x)
			}
		})
	}
}

func BenchmarkProjection(b *testing.B) {
	for _, features := range []int{256, 1000} {
		m := newTestMap(b, Spec{Matern52, features, []float64{0.5, 0.5, 0.5, 0.5}}, 1)
		points := uniformPoints(max(1000, 4*features), 4, random.SeedOf(1).Stream("t", 0))
		b.Run(fmt.Sprintf("new,M=%d", features), func(b *testing.B) {
			for b.Loop() {
				if _, err := NewProjection(m, points, 0.05); err != nil {
					b.Fatal(err)
				}
			}
		})
		p, err := NewProjection(m, points, 0.05)
		if err != nil {
			b.Fatal(err)
		}
		values := make([]float64, p.Len())
		b.Run(fmt.Sprintf("project,M=%d", features), func(b *testing.B) {
			for b.Loop() {
				p.Project(values)
			}
		})
	}
}
