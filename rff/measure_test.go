package rff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/random"
)

// The lengthscales of agents in the measurements: one per coordinate,
// log-uniform between these, times sqrt(d).
const (
	shortest = 0.1
	longest  = 1.0
)

// BenchmarkBasis measures how near phi(x)·phi(y) is to the kernel, for maps
// with the lengthscales of an agent: the root of the mean squared error over
// 2,000 pairs of uniform points and eight maps. Run it with -benchtime 1x; its
// time means nothing.
func BenchmarkBasis(b *testing.B) {
	for _, name := range kernels {
		for _, dim := range []int{1, 2, 6, 20} {
			for _, features := range []int{64, 256, 1000} {
				for _, basis := range bases {
					b.Run(fmt.Sprintf("%s/d=%d/M=%d/%s", name, dim, features, basis), func(b *testing.B) {
						for b.Loop() {
							b.ReportMetric(kernelError(b, name, basis, dim, features), "error")
						}
					})
				}
			}
		}
	}
}

func kernelError(b *testing.B, name, basis string, dim, features int) float64 {
	const maps, pairs = 8, 250
	sum := 0.0
	for i := range maps {
		rng := random.SeedOf(uint64(i)).Stream("pairs", 0)
		root := math.Sqrt(float64(dim))
		lengthscales := logUniform(dim, shortest*root, longest*root, rng)
		m := newTestMap(b, Spec{Kernel: name, Features: features, Lengthscales: lengthscales, Basis: basis}, uint64(i))
		for range pairs {
			p := uniformPoints(2, dim, rng)
			error := linalg.Dot(m.Phi(nil, p[0]), m.Phi(nil, p[1])) - kernel(name, p[0], p[1], lengthscales)
			sum += error * error
		}
	}
	return math.Sqrt(sum / (maps * pairs))
}

// BenchmarkSharedBasis measures how well projections onto a shared basis stand
// for draws of agents whose processes have other lengthscales, over twelve draws
// given 10, 50 and 100 observations:
//
//	R²       explained at fresh points
//	norm     of the weights
//	regret   the draw's maximum less its value at the projection's maximiser, in
//	         units of the maximum less the mean
//	regret+  the same with the maximum and 30 points around it as further points
//	refined  the same again after four rounds, each of which adds the
//	         maximiser of the projection so far
//
// The shared lengthscale is a multiple of sqrt(d) or, as "0.1d", a tenth of d.
// Run it with -benchtime 1x; its time means nothing.
func BenchmarkSharedBasis(b *testing.B) {
	for _, dim := range []int{1, 2, 6, 12, 20} {
		for _, features := range []int{64, 256, 1000} {
			root := math.Sqrt(float64(dim))
			run := func(name, basis string, lengthscale float64) {
				b.Run(fmt.Sprintf("d=%d/M=%d/%s", dim, features, name), func(b *testing.B) {
					for b.Loop() {
						sharedBasis(b, basis, dim, features, lengthscale)
					}
				})
			}
			for _, c := range []float64{0.1, 0.2, 0.3, 0.5, 0.8} {
				run(fmt.Sprintf("%gsqrt(d)", c), DefaultBasis, c*root)
			}
			for _, basis := range bases {
				run("0.1d,"+basis, basis, 0.1*float64(dim))
			}
		}
	}
}

// agents is how many draws there are for every number of observations.
const agents = 4

func sharedBasis(b *testing.B, basis string, dim, features int, lengthscale float64) {
	lengthscales := make([]float64, dim)
	for k := range lengthscales {
		lengthscales[k] = lengthscale
	}
	m := newTestMap(b, Spec{Kernel: Matern52, Features: features, Lengthscales: lengthscales, Basis: basis}, 1)
	rng := random.SeedOf(2).Stream("points", 0)
	p, err := NewProjection(m, uniformPoints(max(1000, 3*features), dim, rng), 0.05)
	if err != nil {
		b.Fatal(err)
	}
	root := math.Sqrt(float64(dim))
	sums := map[string]float64{}
	for _, observed := range []int{10, 50, 100} {
		for i := range agents {
			seed := random.SeedOf(uint64(i)).Derive("agent", uint64(observed))
			own := logUniform(dim, shortest*root, longest*root, seed.Stream("own", 0))
			for name, value := range compare(b, m, p, newPath(b, Matern52, own, observed, seed), rng) {
				sums[name] += value / (3 * agents)
			}
		}
	}
	for name, value := range sums {
		b.ReportMetric(value, name)
	}
}

// compare projects f, less the mean of its values, for a constant does not move
// a maximum, and measures the outcome at points that the projection has not seen.
func compare(b *testing.B, m *Map, p *Projection, f differentiable, rng *rand.Rand) map[string]float64 {
	const around, width, weight, rounds = 30, 0.1, 10, 4
	values, mean := make([]float64, p.Len()), 0.0
	for i := range values {
		values[i] = f.Value(p.Point(i))
		mean += values[i] / float64(len(values))
	}
	for i := range values {
		values[i] -= mean
	}
	fresh := uniformPoints(600, m.Dim(), rng)
	top, best := maximum(f, fresh)
	refined, err := p.Refine(values, weight)
	if err != nil {
		b.Fatal(err)
	}
	further := func(x []float64) {
		if err := refined.Add(x, f.Value(x)-mean); err != nil {
			b.Fatal(err)
		}
	}
	project := func() *Function {
		w, err := refined.Weights()
		if err != nil {
			b.Fatal(err)
		}
		return m.Function(w)
	}
	chosen := func(g differentiable) (x []float64, regret float64) {
		x, _ = maximum(g, uniformPoints(600, m.Dim(), rng))
		return x, max(0, (best-f.Value(x))/(best-mean))
	}
	result := map[string]float64{"R²": explained(f, project(), mean, fresh)}
	w := p.Project(values)
	result["norm"] = math.Sqrt(linalg.Dot(w, w))
	_, result["regret"] = chosen(project())
	further(top)
	for range around {
		further(near(top, width, rng))
	}
	x, regret := chosen(project())
	result["regret+"] = regret
	for range rounds {
		further(x)
		x, regret = chosen(project())
	}
	result["refined"] = regret
	return result
}

// explained is R² of g for f less mean.
func explained(f, g valued, mean float64, points [][]float64) float64 {
	sum, square, rest := 0.0, 0.0, 0.0
	for _, x := range points {
		v := f.Value(x) - mean
		sum, square, rest = sum+v, square+v*v, rest+math.Pow(v-g.Value(x), 2)
	}
	return 1 - rest/(square-sum*sum/float64(len(points)))
}

// near moves every coordinate of x by a normal number times width.
func near(x []float64, width float64, rng *rand.Rand) []float64 {
	moved := slices.Clone(x)
	for k := range moved {
		moved[k] = min(max(moved[k]+width*rng.NormFloat64(), 0), 1)
	}
	return moved
}
