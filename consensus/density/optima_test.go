package density

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// toldOf are the densities of as many peers that believe in the same design, with this
// noise.
func toldOf(spec *task.Task, x []float64, sigma float64, peers int, rng *rand.Rand) []protocol.Density {
	all := make([]protocol.Density, peers)
	for i := range all {
		noisy := protocol.PointOf(spec.Space, spec.Space.Decode(x))
		for k := range noisy.Coordinates {
			noisy.Coordinates[k] = min(max(noisy.Coordinates[k]+sigma*rng.NormFloat64(), 0), 1)
		}
		all[i] = protocol.Density{Observations: 1, Components: []protocol.Component{{Weight: 1, Std: math.Hypot(shapeOf(spec).Spread, sigma), Center: noisy}}}
	}
	return all
}

// Thirty peers whose single words say nothing tell the place together, near the ends of the
// range too, where noise is cut off.
func TestACrowdTellsWhatOneDoesNot(t *testing.T) {
	spec := newTask(t, line, "exact", "")
	layout := optprior.NewLayout(spec.Space)
	rng := rand.New(rand.NewPCG(1, 2))
	const sigma, peers, repeats = 0.8, 30, 200
	for _, place := range []float64{0.1, 0.5, 0.85} {
		sum, square := 0.0, 0.0
		for range repeats {
			crowd := newOptimaDensity(layout, spec, toldOf(spec, []float64{place}, sigma, peers, rng))
			best, highest := 0.0, math.Inf(-1)
			for i := range 101 {
				if value := crowd.Value([]float64{float64(i) / 100}); value > highest {
					best, highest = float64(i)/100, value
				}
			}
			sum += best / repeats
			square += (best - place) * (best - place) / repeats
		}
		// Of noise that is not cut off the deviation would be 0.146.
		if off := math.Sqrt(square); off > 0.22 || math.Abs(sum-place) > 0.05 {
			t.Errorf("at %g: the average is %.3f, the deviation %.3f", place, sum, off)
		}
	}
}

// However many speak, they are no surer together than one without noise.
func TestACrowdIsNoSurerThanOneWithoutNoise(t *testing.T) {
	spec := newTask(t, line, "exact", "")
	layout := optprior.NewLayout(spec.Space)
	all := make([]protocol.Density, 500)
	for i := range all {
		all[i] = protocol.Density{Observations: 1, Components: []protocol.Component{{Weight: 1, Std: 0.4, Center: protocol.Point{Coordinates: []float64{0.5}}}}}
	}
	one := around(spec, 0.2, []float64{0.5})
	exact := mixtureOf(spec, one)
	for _, count := range []int{4, 500} {
		crowd := newOptimaDensity(layout, spec, all[:count])
		for _, x := range []float64{0, 0.2, 0.4} {
			got := crowd.Value([]float64{x}) - crowd.Value([]float64{0.5})
			if want := logOf(exact, []float64{x}) - logOf(exact, []float64{0.5}); math.Abs(got-want) > 1e-9 {
				t.Errorf("%d peers at %g: %g below the middle, one without noise %g", count, x, got, want)
			}
		}
	}
	if got := newOptimaDensity(layout, spec, all[:1]).Value([]float64{0.9}); math.Abs(got+0.5) > 1e-12 {
		t.Errorf("one peer, a deviation away: %g, want -0.5", got)
	}
}

// Relative to the uniform density its average is 1.
func TestACrowdIsADensity(t *testing.T) {
	spec := newTask(t, mixed, "exact", "")
	rng := rand.New(rand.NewPCG(3, 4))
	stream := random.SeedOf(1).Stream("x", 0)
	told := toldOf(spec, spec.Space.Encode(spec.Space.Decode(acquisition.Sample(spec.Space, stream))), 0.4, 10, rng)
	designs := uniform(spec)
	l := newOptimaDensity(optprior.NewLayout(spec.Space), spec, told).relative(designs)
	average := 0.0
	for _, x := range designs {
		average += math.Exp(l.Value(x)) / float64(len(designs))
	}
	if math.Abs(average-1) > 1e-9 {
		t.Errorf("the average is %g", average)
	}
}

// Central differences have four digits at least, on cut coordinates and between choices too.
func TestGradientOfACrowd(t *testing.T) {
	spec := newTask(t, mixed, "exact", "")
	stream := random.SeedOf(2).Stream("x", 0)
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		told := toldOf(spec, spec.Space.Encode(spec.Space.Decode(acquisition.Sample(spec.Space, stream))), 0.7, 5, rng)
		crowd := newOptimaDensity(optprior.NewLayout(spec.Space), spec, told)
		x := acquisition.Sample(spec.Space, stream)
		for i := range x[3:] {
			x[3+i] = 0.2 + 0.6*x[3+i]
		}
		grad := make([]float64, len(x))
		if value := crowd.Gradient(grad, x); math.Abs(value-crowd.Value(x)) > 1e-12*(1+math.Abs(value)) {
			t.Fatalf("%g with the gradient, %g without", value, crowd.Value(x))
		}
		fbotest.CheckGradient(t, grad, x, crowd.Value, 1e-4)
	}
}

// As often as the noise lets the right choice stay the largest, and no oftener.
func TestStaysLargestMatchesNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		choices int
		sigma   float64
	}{{2, 0.4}, {2, 2}, {3, 0.7}, {20, 0.5}} {
		const runs = 100_000
		kept := 0
		for range runs {
			right, other := 1/math.Sqrt2+c.sigma*rng.NormFloat64(), math.Inf(-1)
			for range c.choices - 1 {
				other = max(other, c.sigma*rng.NormFloat64())
			}
			if right > other {
				kept++
			}
		}
		want := float64(kept) / runs
		if got := keepsMaximum(c.choices, c.sigma); math.Abs(got-want) > 0.01 {
			t.Errorf("%d choices, noise %g: %g, want %g", c.choices, c.sigma, got, want)
		}
	}
	if got, want := keepsMaximum(2, 0.7), math.Erfc(-1/(2*0.7)/math.Sqrt2)/2; math.Abs(got-want) > 1e-6 {
		t.Errorf("of two: %g, want %g", got, want)
	}
	if keepsMaximum(5, 0) != 1 {
		t.Error("without noise")
	}
}
