package rff

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fourier"
	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/random"
)

func TestProjectionIsNearest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		m, err := NewMap(random.SeedOf(rng.Uint64()), Spec{Kernel: Matern52, Features: 10, Lengthscales: []float64{0.5, 0.5}})
		if err != nil {
			rt.Fatal(err)
		}
		points := uniformPoints(rapid.IntRange(1, 30).Draw(rt, "points"), 2, rng)
		ridge := rapid.Float64Range(0.01, 1).Draw(rt, "ridge")
		p, err := NewProjection(m, points, ridge)
		if err != nil {
			rt.Fatal(err)
		}
		values := make([]float64, p.Len())
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		loss := func(w []float64) float64 {
			f, sum := m.Function(w), 0.0
			for i, x := range p.Points() {
				sum += math.Pow(f.Value(x)-values[i], 2)
			}
			for _, v := range w {
				sum += ridge * v * v
			}
			return sum
		}
		w := p.Project(values)
		if p.Len() >= m.Features() {
			moment := make([]float64, m.Features())
			for i, x := range p.Points() {
				linalg.AddScaled(moment, values[i], m.Phi(nil, x))
			}
			for i, v := range p.FromMoment(moment) {
				if math.Abs(v-w[i]) > 1e-6*(1+math.Abs(v)) {
					rt.Fatalf("weight %d is %g from the moment, %g from the values", i, v, w[i])
				}
			}
		}
		least := loss(w)
		for i := range w {
			for _, step := range []float64{-1e-3, 1e-3} {
				w[i] += step
				if loss(w) < least {
					rt.Fatalf("moving weight %d by %g lowers the loss", i, step)
				}
				w[i] -= step
			}
		}
	})
}

func TestProjectionRecoversItsOwnFunctions(t *testing.T) {
	rng := random.SeedOf(1).Stream("t", 0)
	m := newTestMap(t, Spec{Kernel: SE, Features: 64, Lengthscales: []float64{0.3, 0.3}}, 1)
	p, err := NewProjection(m, uniformPoints(400, 2, rng), 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, 64)
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	f := m.Function(w)
	values := make([]float64, p.Len())
	for i := range values {
		values[i] = f.Value(p.Point(i))
	}
	g := m.Function(p.Project(values))
	for _, x := range uniformPoints(50, 2, rng) {
		if math.Abs(f.Value(x)-g.Value(x)) > 1e-2 {
			t.Errorf("f = %g, its projection %g", f.Value(x), g.Value(x))
		}
	}
}

func TestProjectionRejects(t *testing.T) {
	m := newTestMap(t, Spec{Kernel: SE, Features: 4, Lengthscales: []float64{1}}, 1)
	for name, call := range map[string]func() error{
		"none":        func() error { _, err := NewProjection(m, nil, 1); return err },
		"ridge":       func() error { _, err := NewProjection(m, [][]float64{{0}}, 0); return err },
		"coordinates": func() error { _, err := NewProjection(m, [][]float64{{0, 0}}, 1); return err },
		"NaN":         func() error { _, err := NewProjection(m, [][]float64{{math.NaN()}}, 1); return err },
	} {
		if call() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Phiᵀ·values from waves between points and frequencies equals the sum of rows.
func TestProjectionGather(t *testing.T) {
	rng := random.SeedOf(3).Stream("t", 0)
	for _, basis := range bases {
		m := newTestMap(t, Spec{Kernel: Matern52, Features: 30, Lengthscales: []float64{0.1, 0.4, 1}, Basis: basis, Constant: 1.5}, 1)
		points := uniformPoints(17, 3, rng)
		values, want := make([]float64, 17), make([]float64, m.Features())
		for i, x := range points {
			values[i] = rng.NormFloat64()
			linalg.AddScaled(want, values[i], m.Phi(nil, x))
		}
		flat := slices.Concat(points...)
		for i, got := range m.gather(flat, fourier.NewWaves(3, flat), values) {
			if math.Abs(got-want[i]) > 1e-11 {
				t.Errorf("%s: feature %d is %g, want %g", basis, i, got, want[i])
			}
		}
	}
}

// Further points of weight 2 are points that occur twice. 20 features are of
// either form for 10 to 30 points.
func TestRefinedCountsFurtherPoints(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		basis := rapid.SampledFrom(bases).Draw(rt, "basis")
		m, err := NewMap(random.SeedOf(rng.Uint64()), Spec{Kernel: SE, Features: 20, Lengthscales: []float64{0.4, 0.4}, Basis: basis})
		if err != nil {
			rt.Fatal(err)
		}
		points := uniformPoints(rapid.IntRange(10, 30).Draw(rt, "points"), 2, rng)
		further := uniformPoints(rapid.IntRange(0, 5).Draw(rt, "further"), 2, rng)
		values, also := make([]float64, len(points)), make([]float64, len(further))
		for _, v := range [][]float64{values, also} {
			for i := range v {
				v[i] = rng.NormFloat64()
			}
		}
		p, err1 := NewProjection(m, points, 0.1)
		all, err2 := NewProjection(m, slices.Concat(points, further, further), 0.1)
		if err1 != nil || err2 != nil {
			rt.Fatal(err1, err2)
		}
		refined, err := p.Refine(values, 2)
		if err != nil {
			rt.Fatal(err)
		}
		for i, x := range further {
			if err := refined.Add(x, also[i]); err != nil {
				rt.Fatal(err)
			}
			if _, err := refined.Weights(); err != nil { // asking between changes nothing
				rt.Fatal(err)
			}
		}
		got, err := refined.Weights()
		if err != nil {
			rt.Fatal(err)
		}
		for i, want := range all.Project(slices.Concat(values, also, also)) {
			if math.Abs(got[i]-want) > 1e-8 {
				rt.Fatalf("weight %d is %g, want %g", i, got[i], want)
			}
		}
	})
}

func TestRefinedRejects(t *testing.T) {
	m := newTestMap(t, Spec{Kernel: SE, Features: 4, Lengthscales: []float64{1}}, 1)
	p, err := NewProjection(m, [][]float64{{0}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	refined, err := p.Refine([]float64{1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	before, err := refined.Weights()
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"weight":      func() error { _, err := p.Refine([]float64{1}, 0); return err },
		"coordinates": func() error { return refined.Add([]float64{0, 1}, 1) },
		"NaN":         func() error { return refined.Add([]float64{math.NaN()}, 1) },
		"value":       func() error { return refined.Add([]float64{0}, math.Inf(1)) },
	} {
		if call() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if after, err := refined.Weights(); err != nil || !slices.Equal(before, after) {
		t.Errorf("%v (%v) after points that were rejected, %v before", after, err, before)
	}
}

// The error of a projection falls with M: the unexplained share of twelve draws
// in two dimensions, averaged, at every step and by a factor of 4 in all. With
// eight seeds that factor was between 12 and 77.
func TestProjectionErrorFallsWithFeatures(t *testing.T) {
	first, before := 0.0, math.Inf(1)
	for _, features := range []int{16, 64, 256} {
		m := newTestMap(t, Spec{Kernel: Matern52, Features: features, Lengthscales: []float64{0.25, 0.25}}, 1)
		rng := random.SeedOf(2).Stream("t", 0)
		p, err := NewProjection(m, uniformPoints(4*features, 2, rng), 0.01)
		if err != nil {
			t.Fatal(err)
		}
		fresh, unexplained := uniformPoints(300, 2, rng), 0.0
		for i := range 12 {
			f := newPath(t, Matern52, []float64{0.3, 0.5}, 20, random.SeedOf(uint64(i)))
			values := make([]float64, p.Len())
			for j := range values {
				values[j] = f.Value(p.Point(j))
			}
			unexplained += (1 - explained(f, m.Function(p.Project(values)), 0, fresh)) / 12
		}
		t.Logf("M = %d: unexplained %.4f", features, unexplained)
		if unexplained >= before {
			t.Errorf("M = %d: unexplained %.4f, with a quarter of the features %.4f", features, unexplained, before)
		}
		if first == 0 {
			first = unexplained
		}
		before = unexplained
	}
	if before > first/4 {
		t.Errorf("unexplained %.4f with the most features, %.4f with the fewest", before, first)
	}
}
