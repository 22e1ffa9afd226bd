package gp

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/normal"
	"github.com/fbo-node/fbo/internal/random"
)

// direct is the process of known mean zero by Rasmussen and Williams, equations 2.23 and
// 2.24, with the squared exponential written out and the inverse of the covariance.
type direct struct {
	x       [][]float64
	y       []float64
	lengths []float64
	inverse mat.Dense
	logDet  float64
}

func newDirect(x [][]float64, y, lengths []float64, noise float64) *direct {
	d := &direct{x: x, y: y, lengths: lengths}
	if len(x) == 0 {
		return d
	}
	c := mat.NewDense(len(x), len(x), nil)
	for i := range x {
		for j := range x {
			c.Set(i, j, d.kernel(x[i], x[j]))
		}
		c.Set(i, i, 1+noise)
	}
	if err := d.inverse.Inverse(c); err != nil {
		panic(err)
	}
	d.logDet, _ = mat.LogDet(c)
	return d
}

func (d *direct) kernel(a, b []float64) float64 {
	square := 0.0
	for k, l := range d.lengths {
		square += (a[k] - b[k]) * (a[k] - b[k]) / (l * l)
	}
	return math.Exp(-square / 2)
}

// along returns (K + noise)⁻¹ v.
func (d *direct) along(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = linalg.Dot(d.inverse.RawRowView(i), v)
	}
	return out
}

func (d *direct) cross(at []float64) []float64 {
	out := make([]float64, len(d.x))
	for i, x := range d.x {
		out[i] = d.kernel(x, at)
	}
	return out
}

func (d *direct) mean(at []float64) float64 {
	if len(d.x) == 0 {
		return 0
	}
	return linalg.Dot(d.along(d.cross(at)), d.y)
}

func (d *direct) covariance(a, b []float64) float64 {
	if len(d.x) == 0 {
		return d.kernel(a, b)
	}
	return d.kernel(a, b) - linalg.Dot(d.along(d.cross(a)), d.cross(b))
}

func (d *direct) logEvidence() float64 {
	return -0.5 * (linalg.Dot(d.along(d.y), d.y) + d.logDet + float64(len(d.x))*math.Log(2*math.Pi))
}

// centredProblem has 0 to 12 observations, whose mean is far from zero.
func centredProblem(rt *rapid.T, least int) (Spec, Hyperparameters, *direct, [][]float64) {
	rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
	spec := Spec{Kernel: SE, Groups: []int{0, 1}, Centred: true}
	h := Hyperparameters{Lengthscales: []float64{0.2 + rng.Float64(), 0.2 + rng.Float64()}, Noise: 0.01 + rng.Float64()}
	x := uniformPoints(rapid.IntRange(least, 12).Draw(rt, "observations"), 2, rng)
	y := make([]float64, len(x))
	for i := range y {
		y[i] = 3 + rng.NormFloat64()
	}
	return spec, h, newDirect(x, y, h.Lengthscales, h.Noise), uniformPoints(4, 2, rng)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-8*(1+math.Abs(b)) }

// A process of known mean is what its formulas say, from no observation on: mean,
// variance, both of many points, and the joint distribution.
func TestCentredIsTheDirectComputation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spec, h, want, points := centredProblem(rt, 0)
		p, err := NewPosterior(spec, want.x, want.y, h)
		if err != nil {
			rt.Fatal(err)
		}
		if p.Constant() != 0 {
			rt.Fatalf("a constant part of %g", p.Constant())
		}
		var flat []float64
		for _, x := range points {
			flat = append(flat, x...)
		}
		means, variances, cross := make([]float64, len(points)), make([]float64, len(points)), make([]float64, len(points))
		p.Means(means, flat)
		p.Variances(variances, flat)
		joint := p.Joint(points)
		for i, x := range points {
			mean, variance := p.Predict(x)
			wantMean, wantVariance := want.mean(x), want.covariance(x, x)
			if !near(mean, wantMean) || !near(variance, wantVariance) || !near(means[i], wantMean) || !near(variances[i], wantVariance) || !near(joint.Mean()[i], wantMean) {
				rt.Fatalf("point %d: mean %g, %g, %g and variance %g, %g, want %g and %g", i, mean, means[i], joint.Mean()[i], variance, variances[i], wantMean, wantVariance)
			}
			joint.Cross(cross, x)
			for j, other := range points {
				if c := want.covariance(x, other); !near(joint.Covariance().At(i, j), c) || !near(cross[j], c) {
					rt.Fatalf("points %d and %d: covariance %g, %g across, want %g", i, j, joint.Covariance().At(i, j), cross[j], c)
				}
			}
		}
	})
}

// Observation by observation, from none on, it comes to the same.
func TestCentredExtends(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spec, h, want, points := centredProblem(rt, 1)
		p, err := NewPosterior(spec, nil, nil, h)
		for i := range want.x {
			if err == nil {
				p, err = p.Extend(want.x[:i+1], want.y[:i+1])
			}
		}
		if err != nil {
			rt.Fatal(err)
		}
		for _, x := range points {
			if mean, variance := p.Predict(x); !near(mean, want.mean(x)) || !near(variance, want.covariance(x, x)) {
				rt.Fatalf("mean %g and variance %g, want %g and %g", mean, variance, want.mean(x), want.covariance(x, x))
			}
		}
	})
}

func TestCentredEvidence(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spec, h, want, _ := centredProblem(rt, 1)
		value, gradient, err := logPosterior(spec, want.x, want.y, h)
		if err != nil {
			rt.Fatal(err)
		}
		if got := value - addPriors(make([]float64, 3), h); !near(got, want.logEvidence()) {
			rt.Fatalf("evidence %g, want %g", got, want.logEvidence())
		}
		const step = 1e-5
		up, down := h, h
		up.Noise, down.Noise = h.Noise*math.Exp(step), h.Noise*math.Exp(-step)
		above, _, _ := logPosterior(spec, want.x, want.y, up)
		below, _, _ := logPosterior(spec, want.x, want.y, down)
		if slope := (above - below) / (2 * step); math.Abs(slope-gradient[2]) > 1e-4*(1+math.Abs(slope)) {
			rt.Fatalf("gradient by the noise %g, finite difference %g", gradient[2], slope)
		}
	})
}

// The moments of 4,000 draws at two points, before and after observations, lie within 4.5
// standard errors of the formulas: 12 comparisons, so a right program fails once in 10,000
// seeds (the seed is fixed). With the constant part that is not there the variance before
// observations would be twice as large, 25 standard errors.
func TestCentredDraws(t *testing.T) {
	const draws = 4000
	rng := random.SeedOf(3).Stream("t", 0)
	spec, h := Spec{Kernel: SE, Groups: []int{0, 1}, Centred: true}, Hyperparameters{Lengthscales: []float64{0.3, 0.5}, Noise: 0.1}
	a, b := []float64{0.3, 0.6}, []float64{0.6, 0.5}
	for _, n := range []int{0, 4} {
		x := uniformPoints(n, 2, rng)
		y := []float64{2, 3, 4, 3}[:n]
		want := newDirect(x, y, h.Lengthscales, h.Noise)
		p, err := NewPosterior(spec, x, y, h)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, of func(f *Function) float64, want float64) {
			t.Helper()
			sum, square := 0.0, 0.0
			for range draws {
				v := of(p.Draw(64, rng))
				sum, square = sum+v/draws, square+v*v/draws
			}
			if z := (sum - want) / math.Sqrt((square-sum*sum)/draws); math.Abs(z) > 4.5 {
				t.Errorf("%d observations: %s is %g, want %g: %.1f standard errors", n, what, sum, want, z)
			}
		}
		for _, at := range [][]float64{a, b} {
			check("the mean", func(f *Function) float64 { return f.Value(at) }, want.mean(at))
			check("the variance", func(f *Function) float64 { d := f.Value(at) - want.mean(at); return d * d }, want.covariance(at, at))
		}
		check("the covariance", func(f *Function) float64 { return (f.Value(a) - want.mean(a)) * (f.Value(b) - want.mean(b)) }, want.covariance(a, b))
	}
}

// Of one side all is known: half of the normal distribution of variance 1.
func TestCentredIntervals(t *testing.T) {
	spec := plane
	spec.Centred = true
	h := Hyperparameters{Lengthscales: []float64{0.5, 0.5}, Noise: 0.3}
	x := [][]float64{{0.2, 0.7}}
	p, err := NewIntervalPosterior(spec, x, []Interval{{0.5, math.Inf(1)}}, h)
	if err != nil {
		t.Fatal(err)
	}
	sd := math.Sqrt(1.3)
	_, slope, _ := normal.LogBetween(0.5/sd, math.Inf(1))
	if mean, _ := p.Predict(x[0]); math.Abs(mean+slope/sd) > 1e-6 {
		t.Errorf("mean %g, want %g", mean, -slope/sd)
	}
}

// What learns needs an observation to learn from.
func TestFitNeedsAnObservation(t *testing.T) {
	rng := random.SeedOf(1).Stream("t", 0)
	if _, err := Fit(context.Background(), plane, nil, nil, nil, rng); err == nil {
		t.Error("Fit: no error without observations")
	}
	if _, err := FitIntervals(context.Background(), plane, nil, nil, nil, rng); err == nil {
		t.Error("FitIntervals: no error without observations")
	}
}
