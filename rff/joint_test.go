package rff

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/random"
)

// jointProblem is a posterior in either form and any basis, and 1 to 6 points.
func jointProblem(rt *rapid.T) (p *Posterior, points [][]float64) {
	rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
	m, err := NewMap(random.SeedOf(rng.Uint64()), Spec{
		Kernel:       rapid.SampledFrom(kernels).Draw(rt, "kernel"),
		Features:     12,
		Lengthscales: []float64{0.3, 0.5},
		Basis:        rapid.SampledFrom(bases).Draw(rt, "basis"),
	})
	if err != nil {
		rt.Fatal(err)
	}
	x := uniformPoints(rapid.IntRange(1, 25).Draw(rt, "observations"), 2, rng)
	y := make([]float64, len(x))
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	v := rapid.Float64Range(0.1, 4).Draw(rt, "v")
	p, err = newPosterior(m, x, y, v, rapid.Float64Range(1e-3, 1).Draw(rt, "noise"), rapid.Bool().Draw(rt, "dual"))
	if err != nil {
		rt.Fatal(err)
	}
	return p, uniformPoints(rapid.IntRange(1, 6).Draw(rt, "points"), 2, rng)
}

// The covariances are those of the weights, which a draw gives exactly.
func TestJointIsThatOfTheWeights(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, points := jointProblem(rt)
		j := p.Joint(points)
		mean, covariance, cross := j.Mean(), j.Covariance(), make([]float64, len(points))
		_, ofWeights := moments(p)
		phi := mat.NewDense(len(points), p.m.features, p.m.rows(points))
		var left, want mat.Dense
		left.Mul(phi, ofWeights)
		want.Mul(&left, phi.T())
		for i, x := range points {
			m, variance := p.Predict(x)
			if math.Abs(m-mean[i]) > 1e-9 || math.Abs(variance-covariance.At(i, i)) > 1e-12 {
				rt.Fatalf("point %d: %g and %g, predicted %g and %g", i, mean[i], covariance.At(i, i), m, variance)
			}
			j.Cross(cross, x)
			for other, c := range cross {
				if math.Abs(covariance.At(i, other)-want.At(i, other)) > 1e-7 || math.Abs(c-want.At(i, other)) > 1e-7 {
					rt.Fatalf("points %d and %d: %g and %g across, want %g", i, other, covariance.At(i, other), c, want.At(i, other))
				}
			}
		}
	})
}

func TestJointGradientIsThatOfCross(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, points := jointProblem(rt)
		j := p.Joint(points)
		weights, cross := make([]float64, len(points)), make([]float64, len(points))
		for i := range weights {
			weights[i] = rapid.Float64Range(-2, 2).Draw(rt, "weight")
		}
		value := func(x []float64) float64 {
			j.Cross(cross, x)
			return linalg.Dot(weights, cross)
		}
		x := []float64{rapid.Float64Range(0, 1).Draw(rt, "x"), rapid.Float64Range(0, 1).Draw(rt, "y")}
		grad := slices.Repeat([]float64{math.NaN()}, len(x))
		j.CrossGradient(grad, weights, x)
		fbotest.CheckGradient(rt, grad, x, value, 1e-4)
	})
}

func TestJointRefuses(t *testing.T) {
	m := newTestMap(t, Spec{Kernel: SE, Features: 8, Lengthscales: []float64{1, 1}}, 1)
	p, err := NewPosterior(m, [][]float64{{0, 1}}, []float64{1}, 1, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	j := p.Joint([][]float64{{0, 0}, {1, 1}})
	two := make([]float64, 2)
	for name, call := range map[string]func(){
		"no points":     func() { p.Joint(nil) },
		"a short point": func() { p.Joint([][]float64{{0}}) },
		"a short dst":   func() { j.Cross(make([]float64, 1), two) },
		"a short x":     func() { j.Cross(two, make([]float64, 1)) },
		"short weights": func() { j.CrossGradient(two, make([]float64, 1), two) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}
