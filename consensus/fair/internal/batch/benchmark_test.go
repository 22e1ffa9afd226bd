package batch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/lab/testfunc"
	"github.com/fbo-node/fbo/task"
)

// newModel is the exact process on so many floats of [0, 1].
func newModel(b testing.TB, dim int) (surrogate.Model, *task.Space) {
	b.Helper()
	space, err := task.NewSpace(floats(dim))
	if err != nil {
		b.Fatal(err)
	}
	model, err := surrogate.New(&task.Task{Name: "test", Goal: task.Maximize, Space: space,
		Surrogate: task.Surrogate{Type: "exact", Kernel: "se", Features: 100, Lengthscale: 0.5, CategoryLengthscale: 1}})
	if err != nil {
		b.Fatal(err)
	}
	return model, space
}

// benchProblem is of n parties who have made this many observations of a smooth function
// of so many floats.
func benchProblem(b testing.TB, n, dim, observed int, rho float64) Problem {
	b.Helper()
	model, space := newModel(b, dim)
	rng := random.SeedOf(1).Stream("problem", 0)
	var obs surrogate.Observations
	h := surrogate.Hyperparameters{Noise: 0.01}
	for range dim {
		h.Lengthscales = append(h.Lengthscales, 0.4)
	}
	for range observed {
		x := acquisition.Sample(space, rng)
		y := 0.03 * rng.NormFloat64()
		for _, u := range x {
			y -= (u - 0.4) * (u - 0.4)
		}
		obs.X, obs.Y = append(obs.X, x), append(obs.Y, y)
	}
	posterior, err := model.Condition(obs, h, nil)
	if err != nil {
		b.Fatal(err)
	}
	p := Problem{Space: space, Posterior: posterior.(surrogate.JointPosterior), Noise: h.Noise, Rule: Fair,
		Weights: Exponential(n, rho), Near: obs.X[:1]}
	p.Alpha = Exploration{C1: 0.01, C2: 1}.Alpha(p.Weights, dim, max(observed/n, 2))
	for range n {
		p.Gains = append(p.Gains, 3*rng.NormFloat64())
	}
	return p
}

// BenchmarkMaximise is a whole choice.
func BenchmarkMaximise(b *testing.B) {
	for _, c := range []struct {
		n, dim, observed int
		rho              float64
	}{{3, 6, 210, 0.4}, {8, 6, 210, 0.6}, {50, 3, 1000, 0.9}, {50, 6, 1000, 0.9}} {
		b.Run(fmt.Sprintf("n=%d/d=%d/t=%d/rho=%g", c.n, c.dim, c.observed, c.rho), func(b *testing.B) {
			p := benchProblem(b, c.n, c.dim, c.observed, c.rho)
			stream := uint64(0)
			for b.Loop() {
				if _, err := p.Maximise(b.Context(), random.SeedOf(1).Stream("batch", stream)); err != nil {
					b.Fatal(err)
				}
				stream++
			}
		})
	}
}

// played is the problem of n parties on Hartmann's function of six floats, as in S21, after
// 10 random designs of each and so many rounds of batches.
func played(b testing.TB, n, rounds int, rho float64) (p Problem) {
	b.Helper()
	model, space := newModel(b, 6)
	f, rng := testfunc.Hartmann6(), random.SeedOf(1).Stream("played", 0)
	p = Problem{Space: space, Weights: Exponential(n, rho), Rule: Fair}
	var obs surrogate.Observations
	gains := make([]float64, n)
	observe := func(designs [][]float64) {
		for i, x := range designs {
			y := 0.1*rng.NormFloat64() - f.Value(x)
			obs.X, obs.Y = append(obs.X, x), append(obs.Y, y)
			gains[i] += y
		}
	}
	for range 10 {
		var designs [][]float64
		for range n {
			designs = append(designs, acquisition.Sample(space, rng))
		}
		observe(designs)
	}
	for round := range rounds + 1 {
		mean, square, best := 0.0, 0.0, 0
		for i, y := range obs.Y {
			mean += y / float64(len(obs.Y))
			if y > obs.Y[best] {
				best = i
			}
		}
		for _, y := range obs.Y {
			square += (y - mean) * (y - mean) / float64(len(obs.Y))
		}
		p.Noise = 0.01 / square
		posterior, err := model.Condition(obs, surrogate.Hyperparameters{Noise: p.Noise,
			Lengthscales: []float64{0.3, 0.3967, 0.9883, 0.3209, 0.3867, 0.3243}}, nil)
		if err != nil {
			b.Fatal(err)
		}
		p.Posterior, p.Near = posterior.(surrogate.JointPosterior), obs.X[best:best+1]
		p.Alpha = Exploration{C1: 0.08 / square, C2: 5}.Alpha(p.Weights, 6, 11+round)
		p.Gains = nil
		for _, gain := range gains {
			p.Gains = append(p.Gains, gain/math.Sqrt(square))
		}
		if round < rounds {
			observe(maximise(b, p, uint64(round)).Designs)
		}
	}
	return p
}

// plain is about what the paper's program does: ascents from the best 20 of 1,500 random
// batches.
func plain(b testing.TB, p Problem, rng *rand.Rand) (value float64) {
	type start struct {
		x     []float64
		value float64
	}
	o := &objective{problem: p, utility: newUtility(p, true)}
	starts, coordinates := make([]start, 1500), make([]int, len(p.Gains)*p.Space.Dim())
	for i := range coordinates {
		coordinates[i] = i
	}
	for i := range starts {
		x := make([]float64, len(coordinates))
		for k := range x {
			x[k] = rng.Float64()
		}
		starts[i] = start{x, o.Value(x)}
	}
	slices.SortFunc(starts, func(a, b start) int {
		if a.value > b.value {
			return -1
		}
		return 1
	})
	value = math.Inf(-1)
	for _, s := range starts[:20] {
		_, v := acquisition.Ascend(b.Context(), o.problem.Space, o, s.x, coordinates, 150)
		value = max(value, v)
	}
	return value
}

// BenchmarkStreams is how much the choice depends on its stream, on problems in the middle
// of a run. Of 50 streams (10 for 50 parties) it shows how far the median and the one that
// a tenth fall below are from the best of all, in units of the posterior; how often 5 of
// them, one after the other, agree within 1e-6; how often a choice agrees within 1e-6 with
// that of the same stream on the same problem but for rounding, as another processor might
// have it; and how far the median of searches as the paper's, a tenth as many, falls below
// the same best.
func BenchmarkStreams(b *testing.B) {
	const together = 5
	for _, c := range []struct {
		n, rounds int
		rho       float64
		streams   int
	}{{3, 0, 0.4, 50}, {3, 20, 0.4, 50}, {3, 50, 0.4, 50}, {3, 50, 1, 50}, {8, 20, 0.6, 50}, {50, 5, 0.9, 10}} {
		b.Run(fmt.Sprintf("n=%d/rounds=%d/rho=%g", c.n, c.rounds, c.rho), func(b *testing.B) {
			p := played(b, c.n, c.rounds, c.rho)
			b.ResetTimer()
			for range b.N {
				var values, others []float64
				for stream := range uint64(c.streams) {
					values = append(values, maximise(b, p, 1000+stream).Value)
				}
				b.StopTimer()
				add := 0.0
				if p.Rule == Fair && !p.Weights.equal() { // the plain search leaves out the mean of the gains
					for _, gain := range p.Gains {
						add += gain / float64(c.n) * p.Weights.sum()
					}
				} else {
					for _, gain := range p.Gains {
						add += gain
					}
				}
				rounded, same := p, 0.0
				rounded.Alpha *= 1 + 1e-14
				for stream := range uint64(c.streams) {
					if b := maximise(b, rounded, 1000+stream); math.Abs(b.Value-values[stream]) <= 1e-6 {
						same += 1 / float64(c.streams)
					}
				}
				for stream := range uint64(c.streams / 10) {
					others = append(others, plain(b, p, random.SeedOf(4).Stream("plain", stream))+add)
				}
				agree := 0.0
				for group := range slices.Chunk(values, together) {
					if slices.Max(group)-slices.Min(group) <= 1e-6 {
						agree += together / float64(c.streams)
					}
				}
				best := max(slices.Max(values), slices.Max(others))
				slices.Sort(values)
				slices.Sort(others)
				b.ReportMetric(best-values[c.streams/2], "median-below")
				b.ReportMetric(best-values[c.streams/10], "tenth-below")
				b.ReportMetric(agree, "agree")
				b.ReportMetric(same, "rounded-agree")
				b.ReportMetric(best-others[len(others)/2], "plain-below")
				b.StartTimer()
			}
		})
	}
}
