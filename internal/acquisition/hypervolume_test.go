package acquisition

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/normal"
	"github.com/fbo-node/fbo/internal/pareto"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// scaledDraws is a process with one observation, whose value differs by a factor between draws.
type scaledDraws struct {
	oneObservation
	factors []float64
}

func (d scaledDraws) Draws() int { return len(d.factors) }

func (d scaledDraws) Values(draw int) []float64 { return []float64{d.factors[draw] * d.y} }

func (d scaledDraws) Predict(means, x []float64) (variance float64) {
	mean, variance := d.oneObservation.Predict(x)
	for s := range means {
		means[s] = d.factors[s] * mean
	}
	return variance
}

func (d scaledDraws) Gradient(grad, byMean []float64, byVariance float64, x []float64) {
	k := d.kernel(x)
	for i := range x {
		slope := -k * (x[i] - d.at[i]) / (d.length * d.length)
		grad[i] = -2 * byVariance * k * slope
		for s, weight := range byMean {
			grad[i] += weight * d.factors[s] * d.y * slope
		}
	}
}

// normals has draws with given values at designs, and the same normal distribution everywhere.
type normals struct {
	values   []float64
	mean, sd float64
}

func (n normals) Draws() int { return 1 }

func (n normals) Values(int) []float64 { return n.values }

func (n normals) Predict(means, _ []float64) (variance float64) {
	means[0] = n.mean
	return n.sd * n.sd
}

func (n normals) Gradient(grad, _ []float64, _ float64, _ []float64) { clear(grad) }

// latents returns processes of noisy observations of as many objectives, with draws. They are
// negatively correlated, so that the front has several points.
func latents(t rapid.TB, rng *rand.Rand, objectives, observed, pending, draws, dim int) []Latent {
	x := make([][]float64, observed+pending)
	for i := range x {
		x[i] = make([]float64, dim)
		for k := range x[i] {
			x[i][k] = rng.Float64()
		}
	}
	all := make([]Latent, objectives)
	for k := range all {
		spec := gp.Spec{Kernel: gp.Matern52}
		h := gp.Hyperparameters{Noise: 0.01}
		for i := range dim {
			spec.Groups = append(spec.Groups, i)
			h.Lengthscales = append(h.Lengthscales, 0.4)
		}
		y := make([]float64, observed)
		for i := range y {
			y[i] = -3 * math.Pow(x[i][0]-float64(k)/float64(objectives), 2)
			y[i] += math.Sin(3*x[i][dim-1]+float64(k)) + 0.1*rng.NormFloat64()
		}
		p, err := gp.NewPosterior(spec, x[:observed], y, h)
		if err != nil {
			t.Fatal(err)
		}
		l, err := p.Latent(x[observed:], draws, rng)
		if err != nil {
			t.Fatal(err)
		}
		all[k] = l
	}
	return all
}

// With real processes, pending designs and designs that do not count, the gradient agrees with
// differences.
func TestLogNEHVIGradient(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		objectives, dim := rapid.IntRange(1, 4).Draw(rt, "objectives"), rapid.IntRange(2, 4).Draw(rt, "dim")
		models := latents(rt, rng, objectives, 12, 2, rapid.IntRange(1, 4).Draw(rt, "draws"), dim)
		counted := make([]bool, 14)
		for i := range counted {
			counted[i] = rng.IntN(4) > 0
		}
		f := LogNEHVI(models, counted, slices.Repeat([]float64{rapid.Float64Range(-2, 4).Draw(rt, "reference")}, objectives))
		x, grad := make([]float64, dim), make([]float64, dim)
		for k := range x {
			x[k] = rng.Float64()
		}
		for _, m := range models {
			if m.Predict(make([]float64, m.Draws()), x) < 1e-2 {
				rt.Skip("differences are not exact enough where the variance is small")
			}
		}
		value := f.Gradient(grad, x)
		if other := f.Value(x); other != value {
			rt.Fatalf("Gradient returns %g, Value %g", value, other)
		}
		fbotest.CheckGradient(rt, grad, x, f.Value, 1e-3)
	})
}

// The mean over 200,000 outcomes of the volume that they add agrees with the value within 5
// standard errors, which are estimated. Of nine comparisons one fails for one seed in 200,000; the
// seed is fixed.
func TestLogNEHVIIsTheExpectedImprovement(t *testing.T) {
	const count = 200000
	rng := random.SeedOf(1).Stream("t", 0)
	for objectives := 2; objectives <= 4; objectives++ {
		for range 3 {
			models, points := make([]Latent, objectives), make([][]float64, 8)
			reference := slices.Repeat([]float64{-1}, objectives)
			for i := range points {
				points[i] = make([]float64, objectives)
				for k := range points[i] {
					points[i][k] = rng.NormFloat64() / 2
				}
			}
			own := make([]normals, objectives)
			for k := range models {
				own[k] = normals{mean: rng.NormFloat64() / 2, sd: 0.3 + rng.Float64()}
				for _, p := range points {
					own[k].values = append(own[k].values, p[k])
				}
				models[k] = own[k]
			}
			boxes := pareto.Boxes(points, reference)
			sum, squares := 0.0, 0.0
			for range count {
				outcome, gain := make([]float64, objectives), 0.0
				for k, n := range own {
					outcome[k] = n.mean + n.sd*rng.NormFloat64()
				}
				for _, b := range boxes {
					part := 1.0
					for k, v := range outcome {
						part *= max(min(v, b.Upper[k])-b.Lower[k], 0)
					}
					gain += part
				}
				sum, squares = sum+gain, squares+gain*gain
			}
			outcome := []float64{0.3, 0.2, 0.1, 0.4}[:objectives] // the boxes agree with the difference of hypervolumes
			gain := pareto.Hypervolume(append(slices.Clone(points), outcome), reference) - pareto.Hypervolume(points, reference)
			certain := make([]Latent, objectives)
			for k := range certain {
				certain[k] = normals{own[k].values, outcome[k], 0}
			}
			if got := math.Exp(LogNEHVI(certain, nil, reference).Value(nil)); math.Abs(got-gain) > 1e-7 {
				t.Errorf("%d objectives: improvement %g of a certain outcome; expected %g", objectives, got, gain)
			}
			mean := sum / count
			deviation := math.Sqrt((squares/count - mean*mean) / count)
			if got := math.Exp(LogNEHVI(models, nil, reference).Value(nil)); math.Abs(got-mean) > 5*deviation {
				t.Errorf("%d objectives: %g, by simulation %g ± %g", objectives, got, mean, deviation)
			}
		}
	}
}

// For a front of one point the improvement has a closed form: the volume of the outcome less that
// of its part below the point.
func TestLogNEHVIOverAPoint(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.Float64Range(-2, 2)
		a := normals{[]float64{number.Draw(rt, "p1")}, number.Draw(rt, "m1"), rapid.Float64Range(0.1, 2).Draw(rt, "s1")}
		b := normals{[]float64{number.Draw(rt, "p2")}, number.Draw(rt, "m2"), rapid.Float64Range(0.1, 2).Draw(rt, "s2")}
		reference := []float64{-2.5, -3}
		above := func(n normals, v float64) float64 {
			h, _, _ := normal.Excess((n.mean - v) / n.sd)
			return n.sd * h
		}
		a1, b1 := above(a, reference[0]), above(b, reference[1])
		want := a1*b1 - (a1-above(a, a.values[0]))*(b1-above(b, b.values[0]))
		got := math.Exp(LogNEHVI([]Latent{a, b}, nil, reference).Value(nil))
		if math.Abs(got-want) > 1e-11 {
			rt.Fatalf("%g; expected %g", got, want)
		}
	})
}

// With one objective and one draw the function is LogEI over the best value, but not below the
// reference.
func TestLogNEHVIOfOneObjectiveIsLogEI(t *testing.T) {
	p := oneObservation{[]float64{0.3}, 0.7, 0.2}
	for reference, best := range map[float64]float64{-1: 0.7, 2: 2} {
		f, ei := LogNEHVI([]Latent{scaledDraws{p, []float64{1}}}, nil, []float64{reference}), LogEI(p, best)
		for _, x := range []float64{0, 0.2, 0.29, 0.5, 1} {
			grad, want := []float64{0}, []float64{0}
			if got, value := f.Gradient(grad, []float64{x}), ei.Gradient(want, []float64{x}); math.Abs(got-value) > 1e-10 || math.Abs(grad[0]-want[0]) > 1e-8*(1+math.Abs(want[0])) {
				t.Errorf("at %g: %g with slope %g, LogEI %g with %g", x, got, grad[0], value, want[0])
			}
		}
	}
}

// Far in the tails, at evaluated designs and between close points of the front, value and gradient
// are finite and lead uphill.
func TestLogNEHVIIsFiniteInTheTails(t *testing.T) {
	p := oneObservation{[]float64{0.5}, 1, 0.2}
	for _, reference := range []float64{1.5, 100, 1e6} {
		models := []Latent{scaledDraws{p, []float64{1, 1 + 1e-12}}, scaledDraws{oneObservation{[]float64{0.5}, -1, 0.3}, []float64{1, 1}}}
		f := LogNEHVI(models, nil, []float64{reference, reference})
		for _, x := range []float64{0.5, 0.5 + 1e-9, 0.6} {
			grad := []float64{0}
			if value := f.Gradient(grad, []float64{x}); math.IsInf(value, 0) || math.IsNaN(value) || math.IsNaN(grad[0]) || math.IsInf(grad[0], 0) {
				t.Errorf("reference %g, at %g: %g with slope %g", reference, x, value, grad[0])
			}
		}
		grad := []float64{0}
		if f.Gradient(grad, []float64{0.6}); !(grad[0] > 0) {
			t.Errorf("reference %g: slope %g; expected one that leads away from the design", reference, grad[0])
		}
	}
	values := []float64{0, 1e-13, 2e-13, 1}
	other := []float64{1, 1 - 1e-13, 1 - 2e-13, 0}
	f := LogNEHVI([]Latent{normals{values, -50, 1}, normals{other, -80, 1}}, nil, []float64{-1, -1})
	if value := f.Value(nil); math.IsNaN(value) || math.IsInf(value, 0) {
		t.Errorf("close points: %g", value)
	}
}

// A design that does not count leaves the front as it is without it.
func TestDesignsThatDoNotCount(t *testing.T) {
	a, b := normals{[]float64{1, 5, 0}, 0.5, 1}, normals{[]float64{0, 5, 1}, 0.5, 1}
	without := LogNEHVI([]Latent{normals{[]float64{1, 0}, 0.5, 1}, normals{[]float64{0, 1}, 0.5, 1}}, nil, []float64{-1, -1}).Value(nil)
	if got := LogNEHVI([]Latent{a, b}, []bool{true, false, true}, []float64{-1, -1}).Value(nil); got != without {
		t.Errorf("%g; expected %g", got, without)
	}
	none := LogNEHVI([]Latent{a, b}, make([]bool, 3), []float64{-1, -1}).Value(nil)
	h, _, _ := normal.Excess(1.5)
	if math.Abs(none-2*math.Log(h)) > 1e-12 {
		t.Errorf("no design counts: %g; expected the whole volume %g", none, 2*math.Log(h))
	}
}

func TestObjectivesThatDoNotFit(t *testing.T) {
	a := normals{[]float64{1}, 0, 1}
	for name, f := range map[string]func(){
		"none":               func() { LogNEHVI(nil, nil, nil) },
		"reference":          func() { LogNEHVI([]Latent{a}, nil, []float64{1, 2}) },
		"infinite reference": func() { LogNEHVI([]Latent{a}, nil, []float64{math.Inf(-1)}) },
		"designs":            func() { LogNEHVI([]Latent{a, normals{[]float64{1, 2}, 0, 1}}, nil, []float64{0, 0}) },
		"draws":              func() { LogNEHVI([]Latent{a, scaledDraws{oneObservation{}, []float64{1, 2}}}, nil, []float64{0, 0}) },
		"counted":            func() { LogNEHVI([]Latent{a}, []bool{true, true}, []float64{0}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// BenchmarkLogNEHVI has n observations in six dimensions, of which about 20 are on the front, and S
// draws.
func BenchmarkLogNEHVI(b *testing.B) {
	for _, objectives := range []int{2, 3} {
		for _, observed := range []int{40, 80} {
			for _, draws := range []int{1, 8, 16} {
				models := spread(b, objectives, observed, draws)
				f := LogNEHVI(models, nil, slices.Repeat([]float64{-3}, objectives)).(*volumeGain)
				name := fmt.Sprintf("m=%d/n=%d/S=%d", objectives, observed, draws)
				x, grad := slices.Repeat([]float64{0.4}, 6), make([]float64, 6)
				boxes := len(f.draws[0].lower) / objectives
				b.Run(name+"/value", func(b *testing.B) {
					for b.Loop() {
						f.Value(x)
					}
					b.ReportMetric(float64(boxes), "boxes")
				})
				b.Run(name+"/gradient", func(b *testing.B) {
					for b.Loop() {
						f.Gradient(grad, x)
					}
				})
			}
		}
	}
}

// spread returns processes whose first 20 observations lie on a quarter of a circle or an eighth of
// a sphere, and the others below it.
func spread(b *testing.B, objectives, observed, draws int) []Latent {
	rng := random.SeedOf(1).Stream("spread", 0)
	x, y := make([][]float64, observed), make([][]float64, objectives)
	for i := range x {
		for range 6 {
			x[i] = append(x[i], rng.Float64())
		}
		point, length := make([]float64, objectives), 0.0
		for k := range point {
			point[k] = math.Abs(rng.NormFloat64())
			length = math.Hypot(length, point[k])
		}
		for k, v := range point {
			value := 2 * v / length
			if i >= 20 {
				value = value/3 - 1
			}
			y[k] = append(y[k], value)
		}
	}
	all := make([]Latent, objectives)
	for k := range all {
		p, err := gp.NewPosterior(gp.Spec{Kernel: gp.Matern52, Groups: []int{0, 1, 2, 3, 4, 5}}, x, y[k], gp.Hyperparameters{Lengthscales: slices.Repeat([]float64{0.6}, 6), Noise: 1e-4})
		if err != nil {
			b.Fatal(err)
		}
		l, err := p.Latent(nil, draws, rng)
		if err != nil {
			b.Fatal(err)
		}
		all[k] = l
	}
	return all
}
