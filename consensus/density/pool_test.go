package density

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/optprior/pooling"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func poolOf(spec *task.Task, weights pooling.Weights, factor float64, all ...protocol.Density) *pooling.Pool {
	var densities []acquisition.Function
	for _, d := range all {
		densities = append(densities, mixtureOf(spec, d))
	}
	return pooling.New(densities, weights, factor)
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
	p := poolOf(spec, pooling.Only(pooling.Product), 1, around(spec, protocol.MinSpread, corner))
	grad := make([]float64, len(corner))
	for range 2 {
		value := p.Gradient(grad, corner)
		if !(value >= math.Log(pooling.UniformShare) && value <= math.Log(pooling.Ceiling)) {
			t.Errorf("value %g, expected one within the bounds", value)
		}
		for i, slope := range grad {
			if math.IsNaN(slope) || math.IsInf(slope, 0) {
				t.Fatalf("slope %d is %g", i, slope)
			}
		}
		corner[0] = 1
	}
}

// The influence decays as 1/t with every rule, and so the score tends to that of the agent alone.
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
	for rule := pooling.Alone; rule <= pooling.Product; rule++ {
		for observations := 1; observations < 1_000_000; observations *= 3 {
			p := poolOf(spec, pooling.Only(rule), exponent(settings, observations), all...)
			for range 100 {
				if got := p.Value(acquisition.Sample(spec.Space, rng)); math.Abs(got) > 5*p.Influence()*math.Log(pooling.Ceiling)/float64(observations) {
					t.Fatalf("rule %d, after %d observations: the peers move the score by %g", rule, observations, got)
				}
			}
		}
	}
}

// The key pooling selects one rule, and without it own outcomes decide.
func TestPoolingKey(t *testing.T) {
	for keys, want := range map[string]pooling.Weights{
		", pooling: product": pooling.Only(pooling.Product),
		", pooling: mean":    pooling.Only(pooling.Geometric),
	} {
		spec := newTask(t, plane, "exact", keys)
		if got := New(spec).weights(viewOf(t, spec, points(spec, 5), bowl(spec, 0.3)), 6, random.SeedOf(1), information{}, false); got != want {
			t.Errorf("%q: weights %g, want %g", keys, got, want)
		}
	}
	spec := newTask(t, plane, "exact", "")
	s, d := New(spec), around(spec, 0.1, []float64{0.3, 0.3})
	view := viewOf(t, spec, append(points(spec, 5), []float64{0.3, 0.3}), bowl(spec, 0.3))
	view.Shares = []*strategy.Share{shareOf(t, spec, "a", d), shareOf(t, spec, "b", d)}
	received, _ := s.listen(view, 7, random.SeedOf(1))
	if w := s.weights(view, 7, random.SeedOf(1), received, false); !(w[pooling.Product] > 0.2 && w[pooling.Alone] < 0.2) {
		t.Errorf("weights %g of peers that are right, expected more for the product than for none", w)
	}
	if w := s.weights(view, 7, random.SeedOf(1), received, true); w != pooling.Even() {
		t.Errorf("weights %g by uninformative outcomes, want equal ones", w)
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
			p := poolOf(spec, pooling.Even(), 1, all...)
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
