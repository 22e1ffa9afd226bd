package rff

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
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
		m, err := NewMap(random.SeedOf(rng.Uint64()), Spec{Kernel: SE, Features: 12, Lengthscales: []float64{0.3, 0.5}, Constant: rapid.SampledFrom([]float64{0, 1.5}).Draw(rt, "constant")})
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
	phi := mat.NewDense(len(x), m.Features(), m.rows(x))
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
				rt.Fatalf("dual %t: mean %d is %g, equation 3 has %g", p.dual != nil, i, got, nu.AtVec(i))
			}
		}
		for j := range mean {
			if got, want := covariance.At(i, j), inverse.At(i, j); math.Abs(got-want) > 1e-7 {
				rt.Fatalf("dual %t: covariance %d, %d is %g, equation 3 has %g", p.dual != nil, i, j, got, want)
			}
		}
	}
}

func TestEvidenceOfOneObservation(t *testing.T) {
	m := newTestMap(t, Spec{Kernel: SE, Features: 8, Lengthscales: []float64{1}}, 1)
	// phi·phi = 1, so y ~ N(0, v + noise).
	e, err := NewEvidence(m, [][]float64{{0.3}}, []float64{1.5})
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Log(2, 0.5)
	want := -0.5 * (1.5*1.5/2.5 + math.Log(2*math.Pi*2.5))
	if err != nil || math.Abs(got-want) > 1e-12 {
		t.Errorf("log evidence %g, %v; want %g", got, err, want)
	}
}

func TestPosteriorRejects(t *testing.T) {
	m := newTestMap(t, Spec{Kernel: SE, Features: 4, Lengthscales: []float64{1}}, 1)
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
		e, err := NewEvidence(m, test.x, test.y)
		if err == nil {
			_, err = e.Log(test.v, test.noise)
		}
		if err == nil {
			t.Errorf("%s: accepted as evidence", name)
		}
	}
	if _, err := NewPosterior(m, point, []float64{math.NaN()}, 1, 1); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
}
