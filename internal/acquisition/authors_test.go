package acquisition

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

// authorsArgmax is how the published code of federated Thompson sampling (Dai,
// Low and Jaillet 2020) looks for the maximum: 10,000 uniform points evaluated
// one by one, and 50 searches from other uniform points by bounded L-BFGS with
// numerical gradients. L-BFGS is the one of this package (theirs is scipy's
// L-BFGS-B) so that what differs is the method and not the library.
func authorsArgmax(f Function, dim int, rng *rand.Rand) float64 {
	x := make([]float64, dim)
	uniform := func() {
		for i := range x {
			x[i] = rng.Float64()
		}
	}
	best := math.Inf(-1)
	for range 10000 {
		uniform()
		best = max(best, f.Value(x))
	}
	floats := make([]int, dim)
	for i := range floats {
		floats[i] = i
	}
	search := newAscent(floats, dim)
	for range 50 {
		uniform()
		search.start(x, math.Inf(-1))
		search.climb(forward{f}, 1000)
		best = max(best, search.value)
	}
	return best
}

// forward is a function with a gradient by differences, inside the cube, with
// scipy's step.
type forward struct{ Function }

func (f forward) Gradient(grad, x []float64) float64 {
	value := f.Value(x)
	for i, u := range x {
		step := 1e-8
		if u+step > 1 {
			step = -step
		}
		x[i] = u + step
		grad[i] = (f.Value(x) - value) / (x[i] - u)
		x[i] = u
	}
	return value
}

// pointwise evaluates a sampled function as the published code does: for each
// point it makes the vector of features and multiplies it with the weights.
type pointwise struct {
	shared       *rff.Map
	phi, weights []float64
}

func (p pointwise) Value(x []float64) float64 {
	p.shared.Phi(p.phi, x)
	sum := 0.0
	for i, w := range p.weights {
		sum += w * p.phi[i]
	}
	return sum
}

func (pointwise) Gradient(_, _ []float64) float64 { panic("the published code has none") }

// sampledFunction is what an agent maximises: a draw from the posterior of the
// random-feature model after 50 observations of a draw from its prior. It comes
// in the form of this project and in that of the published code.
func sampledFunction(t testing.TB, space *task.Space, features int, seed random.Seed) (Function, pointwise) {
	t.Helper()
	lengthscales := make([]float64, space.Dim())
	for i := range lengthscales {
		lengthscales[i] = 0.3 * math.Sqrt(float64(space.Dim()))
	}
	shared, err := rff.NewMap(seed, rff.Spec{Kernel: rff.Matern52, Features: features, Lengthscales: lengthscales})
	if err != nil {
		t.Fatal(err)
	}
	rng := seed.Stream("draws", 0)
	weights := make([]float64, features)
	for i := range weights {
		weights[i] = rng.NormFloat64()
	}
	truth := shared.Function(weights)
	var x [][]float64
	var y []float64
	for range 50 {
		x = append(x, Sample(space, rng))
		y = append(y, truth.Value(x[len(x)-1])+0.1*rng.NormFloat64())
	}
	posterior, err := rff.NewPosterior(shared, x, y, 1, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	drawn := posterior.Weights(rng)
	return shared.Function(drawn), pointwise{shared, make([]float64, features), drawn}
}

// The maximiser finds at least what the authors' search finds in each of these
// functions. Over many it falls short in about one of 300 with 6 floats (see
// tournament.go).
func TestNoWorseThanAuthorsArgmax(t *testing.T) {
	for _, size := range []struct{ features, dim, functions int }{{100, 2, 12}, {100, 6, 12}, {1000, 2, 1}, {1000, 6, 1}} {
		space := floats(t, size.dim)
		for i := range uint64(size.functions) {
			seed := random.SeedOf(i)
			f, _ := sampledFunction(t, space, size.features, seed)
			theirs := authorsArgmax(f, size.dim, seed.Stream("theirs", 0))
			_, ours, _ := Maximizer{Space: space}.Maximize(t.Context(), f, nil, seed.Stream("ours", 0))
			if ours < theirs-1e-6 {
				t.Errorf("M=%d, d=%d, function %d: %g found, the authors' search finds %g", size.features, size.dim, i, ours, theirs)
			}
		}
	}
}

var benchmarkSizes = []struct{ features, dim int }{{100, 2}, {1000, 2}, {100, 6}, {1000, 6}}

// BenchmarkAuthorsArgmax reports, over as many sampled functions as it is given
// iterations: the time of the authors' search as a multiple of the maximiser's
// on one core, with their way of evaluating the function (times) and with this
// project's (times-same-sum), by how much the maximiser's maxima are higher in the
// mean and at worst, and in how many functions they are lower.
func BenchmarkAuthorsArgmax(b *testing.B) {
	for _, size := range benchmarkSizes {
		b.Run(fmt.Sprintf("M=%d,d=%d", size.features, size.dim), func(b *testing.B) {
			space := floats(b, size.dim)
			var theirs, sameSum, ours time.Duration
			lead, worst, lower, count := 0.0, math.Inf(1), 0.0, uint64(0)
			for b.Loop() {
				seed := random.SeedOf(1000 + count)
				f, published := sampledFunction(b, space, size.features, seed)
				start := time.Now()
				other := authorsArgmax(published, size.dim, seed.Stream("theirs", 0))
				theirs += time.Since(start)
				start = time.Now()
				other = max(other, authorsArgmax(f, size.dim, seed.Stream("theirs", 0)))
				sameSum += time.Since(start)
				start = time.Now()
				_, value, _ := Maximizer{Space: space, Workers: 1}.Maximize(b.Context(), f, nil, seed.Stream("ours", 0))
				ours += time.Since(start)
				count++
				lead, worst = lead+value-other, min(worst, value-other)
				if value < other-1e-6 {
					lower++
				}
			}
			b.ReportMetric(theirs.Seconds()/ours.Seconds(), "times")
			b.ReportMetric(sameSum.Seconds()/ours.Seconds(), "times-same-sum")
			b.ReportMetric(lead/float64(count), "mean-lead")
			b.ReportMetric(worst, "worst-lead")
			b.ReportMetric(lower, "lower")
		})
	}
}

func BenchmarkMaximize(b *testing.B) {
	for _, size := range benchmarkSizes {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("M=%d,d=%d,workers=%d", size.features, size.dim, workers), func(b *testing.B) {
				space, rng := floats(b, size.dim), random.SeedOf(1).Stream("b", 0)
				f, _ := sampledFunction(b, space, size.features, random.SeedOf(1))
				b.ReportAllocs()
				for b.Loop() {
					Maximizer{Space: space, Workers: workers}.Maximize(b.Context(), f, nil, rng)
				}
			})
		}
	}
}
