package density

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

func TestBoundedLogDensityIsMonotonic(t *testing.T) {
	last := math.Inf(-1)
	for log := -50.0; log < 50; log += 0.37 {
		value, slope := bounded(log)
		if !(value >= last) || !(value >= math.Log(uniformShare)) || !(value <= math.Log(ceiling)) {
			t.Errorf("ln π = %g gives %g after %g", log, value, last)
		}
		last = value
		const step = 1e-5
		up, _ := bounded(log + step)
		down, _ := bounded(log - step)
		if want := (up - down) / (2 * step); math.Abs(slope-want) > 1e-6 {
			t.Errorf("ln π = %g: slope %g, differences say %g", log, slope, want)
		}
	}
	if value, _ := bounded(0); math.Abs(value) > 1e-12 {
		t.Errorf("a uniform density gives %g", value)
	}
	for log, want := range map[float64]float64{math.Inf(-1): math.Log(uniformShare), 1000: math.Log(ceiling), math.Inf(1): math.Log(ceiling)} {
		// At the lower end, π̂ is Cκ/(C-1+κ), which is above κ by less than 1/C of it.
		if value, slope := bounded(log); !(math.Abs(value-want) <= 1/ceiling) || slope != 0 && !(slope < 1e-9) {
			t.Errorf("ln π = %g gives %g, slope %g; want %g", log, value, slope, want)
		}
	}
	// What honest densities say is hardly changed: a normal of spread 0.2 in the
	// middle of two parameters has π = 3.98.
	if value, _ := bounded(math.Log(3.98)); math.Abs(value-math.Log(3.98)) > 0.1 {
		t.Errorf("ln 3.98 = %.3f has become %.3f", math.Log(3.98), value)
	}
}

func poolOf(spec *task.Task, weight float64, all ...protocol.Density) *pool {
	p := &pool{weight: weight}
	for _, d := range all {
		p.densities = append(p.densities, mixtureOf(spec, d))
	}
	return p
}

func TestGradientOfThePool(t *testing.T) {
	spec := newTask(t, mixed, "exact", "")
	rng := random.SeedOf(3).Stream("gradient", 0)
	for range 100 {
		var all []protocol.Density
		for range 1 + rng.IntN(4) {
			d := randomDensity(spec, rng)
			for i := range d.Components {
				d.Components[i].Std = max(d.Components[i].Std, 0.05)
			}
			all = append(all, d)
		}
		p := poolOf(spec, 0.7, all...)
		x := acquisition.Sample(spec.Space, rng)
		grad := make([]float64, len(x))
		for i := range grad {
			grad[i] = 17 // what was there before does not count
		}
		if value := p.Gradient(grad, x); value != p.Value(x) {
			t.Fatalf("%g with the gradient, %g without", value, p.Value(x))
		}
		fbotest.CheckGradient(t, grad, x, p.Value, 1e-4)
	}
}

// Whatever a peer says, it lowers, raises and shifts no more than the package
// promises.
func TestInfluenceOfOnePeerIsBounded(t *testing.T) {
	spec := newTask(t, mixed, "exact", "")
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("densities", 0)
		n := rapid.IntRange(1, 6).Draw(rt, "peers")
		settings := Settings{Beta: rapid.Float64Range(0, 1000).Draw(rt, "beta")}
		exponent := exponent(settings, rapid.IntRange(1, 1000).Draw(rt, "t"))
		var others []protocol.Density
		for range n - 1 {
			others = append(others, randomDensity(spec, rng))
		}
		hostile := randomDensity(spec, rng)
		weight := exponent / float64(n)
		// To leave it out is what it would be to believe nothing: ln 1 = 0.
		with, without := poolOf(spec, weight, append(others, hostile)...), poolOf(spec, weight, others...)
		a, b := acquisition.Sample(spec.Space, rng), acquisition.Sample(spec.Space, rng)
		if rapid.Bool().Draw(rt, "at a centre") {
			a = hostile.Components[0].Center.Encoded(spec.Space)
		}
		slack := 1e-9 * (1 + exponent)
		moved := with.Value(a) - without.Value(a)
		if moved < -weight*math.Log(1/uniformShare)-slack || moved > weight*math.Log(ceiling)+slack {
			rt.Fatalf("one of %d densities moved the score by %g; γ = %g", n, moved, exponent)
		}
		shift := moved - (with.Value(b) - without.Value(b))
		if most := weight * math.Log(ceiling/uniformShare); math.Abs(shift) > most+slack {
			rt.Fatalf("one of %d densities shifted one design against another by %g, the bound is %g", n, shift, most)
		}
	})
}

// The bounds are not loose: a narrow density all but reaches both.
func TestBoundsAreReached(t *testing.T) {
	spec := newTask(t, mixed, "exact", "")
	centre := []float64{0.5, 0.5, 0.5, 0, 1, 0}
	p := poolOf(spec, 1, around(spec, protocol.MinSpread, centre))
	if got := p.Value(centre); got < math.Log(ceiling)-0.001 {
		t.Errorf("at its centre a needle gives %g of %g", got, math.Log(ceiling))
	}
	far := []float64{0.9, 0.5, 0.5, 0, 1, 0}
	if got := p.Value(far); got > -math.Log(1/uniformShare)+0.001 {
		t.Errorf("off its centre a needle gives %g of %g", got, math.Log(uniformShare))
	}
	grad := make([]float64, len(far))
	p.Gradient(grad, far)
	for i, slope := range grad {
		if slope != 0 {
			t.Errorf("slope %d is %g where the density is 0", i, slope)
		}
	}
}

// The narrowest density of the largest space is finite everywhere.
func TestDensityIsFiniteInTheLargestSpace(t *testing.T) {
	var parameters []string
	for i := range 50 {
		parameters = append(parameters, fmt.Sprintf("{name: x%d, type: float, low: 0, high: 1}", i),
			fmt.Sprintf("{name: c%d, type: categorical, choices: [a, b, c]}", i))
	}
	spec := newTask(t, strings.Join(parameters, ", "), "exact", "")
	corner := make([]float64, spec.Space.Dim())
	spec.Space.Snap(corner)
	p := poolOf(spec, 1, around(spec, protocol.MinSpread, corner))
	grad := make([]float64, len(corner))
	for range 2 {
		value := p.Gradient(grad, corner)
		if !(value >= math.Log(uniformShare) && value <= math.Log(ceiling)) {
			t.Errorf("value %g", value)
		}
		for i, slope := range grad {
			if math.IsNaN(slope) || math.IsInf(slope, 0) {
				t.Fatalf("slope %d is %g", i, slope)
			}
		}
		corner[0] = 1
	}
}

// The influence decays as 1/t, and so the score tends to that of the agent alone.
func TestInfluenceDecays(t *testing.T) {
	settings := Settings{Beta: 5}
	for observations, want := range map[int]float64{0: 5, 1: 5, 2: 2.5, 10: 0.5, 50: 0.1, 1_000_000: 5e-6} {
		if got := exponent(settings, observations); math.Abs(got-want) > 1e-12 {
			t.Errorf("after %d observations γ = %g, want %g", observations, got, want)
		}
	}
	spec := newTask(t, mixed, "exact", "")
	rng := random.SeedOf(4).Stream("densities", 0)
	all := []protocol.Density{randomDensity(spec, rng), randomDensity(spec, rng), randomDensity(spec, rng)}
	most := math.Max(math.Log(ceiling), math.Log(1/uniformShare))
	for observations := 1; observations < 1_000_000; observations *= 3 {
		p := poolOf(spec, exponent(settings, observations)/3, all...)
		for range 100 {
			if got := p.Value(acquisition.Sample(spec.Space, rng)); math.Abs(got) > 5*most/float64(observations) {
				t.Fatalf("after %d observations the peers move the score by %g", observations, got)
			}
		}
	}
}

func BenchmarkPool(b *testing.B) {
	spec := newTask(b, mixed, "exact", "")
	rng := random.SeedOf(5).Stream("densities", 0)
	x := acquisition.Sample(spec.Space, rng)
	grad := make([]float64, len(x))
	for _, peers := range []int{1, 10, 1000} {
		for _, components := range []int{1, protocol.MaxComponents} {
			var all []protocol.Density
			for range peers {
				d := around(spec, 0.2, acquisition.Sample(spec.Space, rng))
				for range components - 1 {
					d.Components = append(d.Components, d.Components[0])
				}
				all = append(all, d)
			}
			p := poolOf(spec, 1, all...)
			b.Run(fmt.Sprintf("value/%dx%d", peers, components), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p.Value(x)
				}
			})
			b.Run(fmt.Sprintf("gradient/%dx%d", peers, components), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p.Gradient(grad, x)
				}
			})
		}
	}
}
