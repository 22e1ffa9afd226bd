package family

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
)

// Without heterogeneity all members have the published function. A motion keeps distances: the
// squares of the sphere function about its moved centre.
func TestGuide(t *testing.T) {
	for _, b := range benchmarks() {
		family, err := Kinds().Parse("guide:grade=none,function=" + b.name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := family.Draw(random.SeedOf(1), 2)
		if err != nil {
			t.Fatal(err)
		}
		rng := random.SeedOf(2).Stream("designs", 0)
		for range 20 {
			design := f.Space.Decode(acquisition.Sample(f.Space, rng))
			want := b.new(10).At(design) / b.unit
			for _, m := range f.Members {
				if got := m.Objective.Value(design); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
					t.Errorf("%s: %g, want %g", b.name, got, want)
				}
				if got := m.Objective.Optimum; got != b.new(10).Optimum/b.unit || got > want {
					t.Errorf("%s: optimum %g, want %g", b.name, got, b.new(10).Optimum/b.unit)
				}
			}
		}
	}
}

func TestGuideMotion(t *testing.T) {
	for _, grade := range []struct{ shift, rotation float64 }{{0.05, 0.1}, {0.3, 1}} {
		g := guide{Function: benchmarkNamed("sphere").new(10), unit: 1, shift: grade.shift, rotation: grade.rotation}
		squares := 0.0
		const draws = 200
		for i := range uint64(draws) {
			seed := random.SeedOf(3).Derive("member", i)
			m := g.rigid(seed.Stream("shift", 0), seed.Stream("rotation", 0))
			x := g.natural(acquisition.Sample(g.Space, seed.Stream("x", 0)))
			y, want := m.forth(x), 0.0
			for k, v := range x {
				want += (v - m.z[k]) * (v - m.z[k])
				squares += m.z[k] * m.z[k] / (10 * draws)
			}
			if got := g.Value(y); math.Abs(got-want) > 1e-9*want {
				t.Errorf("squared distance %g after the motion, want %g", got, want)
			}
			for k, v := range m.back(y) {
				if math.Abs(v-x[k]) > 1e-9 {
					t.Errorf("coordinate %d: %g after the inverse motion, want %g", k, v, x[k])
				}
			}
		}
		// The standard error of the variance is 3 % with 2,000 draws.
		if want := math.Pow(grade.shift*10.24, 2); math.Abs(squares/want-1) > 0.12 {
			t.Errorf("variance of shifts %g, want %g", squares, want)
		}
	}
}

// A moved function is the same for all members, and its optimum differs from draw to draw.
func TestGuideMoved(t *testing.T) {
	family, err := Kinds().Parse("guide:function=sphere,grade=none,moved=true")
	if err != nil {
		t.Fatal(err)
	}
	centre := make([]float64, family.Space.Len())
	for i := range centre {
		centre[i] = 0.5
	}
	var least, most float64 = math.Inf(1), 0
	for seed := range uint64(20) {
		f, err := family.Draw(random.SeedOf(seed), 2)
		if err != nil {
			t.Fatal(err)
		}
		first, second := f.Members[0].Objective, f.Members[1].Objective
		design := f.Space.Decode(centre)
		if first.Value(design) != second.Value(design) || first.Optimum != 0 {
			t.Errorf("seed %d: values %g and %g at the centre, optimum %g; want equal values and 0", seed, first.Value(design), second.Value(design), first.Optimum)
		}
		least, most = min(least, first.Value(design)), max(most, first.Value(design))
	}
	// Ten coordinates are uniform within 2.56 of the centre: squares sum to 21.8 ± 6.2, in units of 200.
	if least < 0.02 || most > 0.22 || most-least < 0.03 {
		t.Errorf("values at the centre are %g to %g, want about 0.11 ± 0.03", least, most)
	}
}
