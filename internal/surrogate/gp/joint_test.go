package gp

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/random"
)

// jointProblem is a posterior of 1 to 20 observations and 1 to 12 points, which are solved for one by one or together.
func jointProblem(rt *rapid.T) (p *Posterior, points [][]float64) {
	rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
	dim := rapid.IntRange(1, 4).Draw(rt, "dim")
	spec := separate(rapid.SampledFrom(kernels).Draw(rt, "kernel"), dim)
	h := Hyperparameters{Noise: rapid.Float64Range(1e-3, 0.5).Draw(rt, "noise")}
	for range dim {
		h.Lengthscales = append(h.Lengthscales, 0.2+rng.Float64())
	}
	x := uniformPoints(rapid.IntRange(1, 20).Draw(rt, "observations"), dim, rng)
	y := make([]float64, len(x))
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	p, err := NewPosterior(spec, x, y, h)
	if err != nil {
		rt.Fatal(err)
	}
	return p, uniformPoints(rapid.IntRange(1, manyVectors+4).Draw(rt, "points"), dim, rng)
}

// At each point alone the joint distribution is what Predict says, and the
// covariances with a point of the joint are a row of its matrix.
func TestJointAgreesWithPredict(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, points := jointProblem(rt)
		j := p.Joint(points)
		mean, covariance, cross := j.Mean(), j.Covariance(), make([]float64, len(points))
		for i, x := range points {
			m, variance := p.Predict(x)
			if math.Abs(m-mean[i]) > 1e-9 || math.Abs(variance-covariance.At(i, i)) > 1e-12 {
				rt.Fatalf("point %d: %g and %g, predicted %g and %g", i, mean[i], covariance.At(i, i), m, variance)
			}
			j.Cross(cross, x)
			for other, c := range cross {
				if math.Abs(c-covariance.At(i, other)) > 1e-8 {
					rt.Fatalf("points %d and %d: %g across, %g in the matrix", i, other, c, covariance.At(i, other))
				}
			}
		}
	})
}

// An observation z at e moves the mean at x by c(z-m)/(C+noise) and takes
// c²/(C+noise) from the variance; the posterior that is extended by it does not
// know of Joint.
func TestJointForetellsAnObservation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, points := jointProblem(rt)
		j := p.Joint(points[:1])
		const z = 1.7
		after, err := p.Extend(append(slices.Clone(p.x), points[0]), append(slices.Clone(p.y), z))
		if err != nil {
			rt.Fatal(err)
		}
		c, total := make([]float64, 1), j.Covariance().At(0, 0)+p.h.Noise
		for _, x := range points {
			j.Cross(c, x)
			mean, variance := p.Predict(x)
			mean += c[0] * (z - j.Mean()[0]) / total
			variance -= c[0] * c[0] / total
			if m, v := after.Predict(x); math.Abs(m-mean) > 1e-7 || math.Abs(v-variance) > 1e-7 {
				rt.Fatalf("foretold %g and %g, came out as %g and %g", mean, variance, m, v)
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
		x := make([]float64, len(points[0]))
		for i := range x {
			x[i] = rapid.Float64Range(0, 1).Draw(rt, "x")
		}
		grad := slices.Repeat([]float64{math.NaN()}, len(x))
		j.CrossGradient(grad, weights, x)
		fbotest.CheckGradient(rt, grad, x, value, 1e-4)
	})
}

func TestJointRefuses(t *testing.T) {
	p, err := NewPosterior(separate(SE, 2), [][]float64{{0, 1}}, []float64{1}, Hyperparameters{Lengthscales: []float64{1, 1}, Noise: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	j := p.Joint([][]float64{{0, 0}, {1, 1}})
	two := make([]float64, 2)
	for name, call := range map[string]func(){
		"no points":       func() { p.Joint(nil) },
		"a short point":   func() { p.Joint([][]float64{{0}}) },
		"a short dst":     func() { j.Cross(make([]float64, 1), two) },
		"a short x":       func() { j.Cross(two, make([]float64, 1)) },
		"short weights":   func() { j.CrossGradient(two, make([]float64, 1), two) },
		"a long gradient": func() { j.CrossGradient(make([]float64, 3), two, two) },
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
