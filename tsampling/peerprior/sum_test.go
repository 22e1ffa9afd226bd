package peerprior

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/surrogate/gp"
)

// slow hides that a function knows batches.
type slow struct{ acquisition.Function }

// randomSum has a leftover that strays from [0, 1] in places, as projections do.
func randomSum(t testing.TB, l *lab, seed uint64) sum {
	t.Helper()
	rng := random.SeedOf(seed).Stream("sum", 0)
	weights, left := make([]float64, l.features.Features()), make([]float64, l.features.Features())
	for i := range weights {
		weights[i], left[i] = rng.NormFloat64(), 0.4*rng.NormFloat64()
	}
	d := randomData(6, 0.1, seed)
	p, err := gp.NewPosterior(testSpec, d.x, d.y, gp.Hyperparameters{Lengthscales: []float64{0.3}, Noise: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	return sum{
		prior:      l.features.Function(weights),
		residual:   p.Draw(64, rng),
		scale:      0.5 + rng.Float64(),
		unlikeness: 0.01 + 0.5*rng.Float64(),
		left:       leftover{function: l.features.Function(left), level: rng.Float64()},
	}
}

func TestSumGradient(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	const step = 1e-5
	inside, outside := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		s := randomSum(t, l, rapid.Uint64().Draw(rt, "seed"))
		x := []float64{rapid.Float64Range(0.01, 0.99).Draw(rt, "x"), rapid.Float64Range(0.01, 0.99).Draw(rt, "y")}
		left := s.left.level + s.left.function.Value(x)
		if math.Abs(left) < 1e-2 || math.Abs(left-1) < 1e-2 {
			return // a kink
		}
		if left > 0 && left < 1 {
			inside++
		} else {
			outside++
		}
		grad := []float64{math.NaN(), math.NaN()}
		if got, want := s.Gradient(grad, x), s.Value(x); math.Abs(got-want) > 1e-9 {
			rt.Fatalf("Gradient says the value is %g, Value %g", got, want)
		}
		for i := range x {
			up, down := append([]float64(nil), x...), append([]float64(nil), x...)
			up[i], down[i] = x[i]+step, x[i]-step
			if want := (s.Value(up) - s.Value(down)) / (2 * step); math.Abs(grad[i]-want) > 1e-4*(1+math.Abs(want)) {
				rt.Errorf("slope %d is %g, by differences %g (left %g)", i, grad[i], want, left)
			}
		}
	})
	if inside == 0 || outside == 0 {
		t.Errorf("%d points within the bounds of a variance, %d outside", inside, outside)
	}
}

func TestSumOfBatches(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	s := randomSum(t, l, 1)
	single := s
	single.residual = slow{s.residual}
	rng := random.SeedOf(2).Stream("points", 0)
	for _, count := range []int{1, 2, 33} {
		points, together, apart := make([]float64, 2*count), make([]float64, count), make([]float64, count)
		for i := range points {
			points[i] = rng.Float64()
		}
		s.Values(together, points)
		single.Values(apart, points)
		for i := range together {
			want := s.Value(points[2*i : 2*i+2])
			if math.Abs(together[i]-want) > 1e-9 || math.Abs(apart[i]-want) > 1e-9 {
				t.Errorf("point %d of %d: %g and %g, alone %g", i, count, together[i], apart[i], want)
			}
		}
	}
}

// What a belief draws has the gradient of its values, alone and in batches.
func TestDrawnFunctionsAgreeWithThemselves(t *testing.T) {
	const step = 1e-5
	l := newLab(t, "maximize", plane, exact)
	means := l.peersOf(3, 12, bump(0.7), 50)
	for _, observations := range []int{0, 1, 8} {
		b := l.considered(with(l.view(l.designs(observations, random.SeedOf(4)), bump(0.6)), means...))
		for seed := range uint64(12) {
			f, err := b.draw(random.SeedOf(seed).Stream("sample", 0), random.SeedOf(seed).Stream("model", 0))
			if err != nil {
				t.Fatal(err)
			}
			if f == nil {
				continue
			}
			for _, x := range l.designs(4, random.SeedOf(seed)) {
				grad, value := make([]float64, 2), f.Value(x)
				if got := f.Gradient(grad, x); math.Abs(got-value) > 1e-8*(1+math.Abs(value)) {
					t.Fatalf("Gradient says the value is %g, Value %g", got, value)
				}
				if batch, ok := f.(acquisition.Batch); ok {
					got := make([]float64, 2)
					batch.Values(got, []float64{x[0], x[1], x[0], x[1]})
					if math.Abs(got[0]-value) > 1e-8*(1+math.Abs(value)) || got[0] != got[1] {
						t.Fatalf("Values says %v, Value %g", got, value)
					}
				}
				// One coordinate and both sides suffice: a kink makes these differ.
				var sides [2]float64
				for i, h := range []float64{-step, step} {
					sides[i] = (f.Value([]float64{x[0] + h, x[1]}) - value) / h
				}
				if math.Abs(sides[0]-sides[1]) < 0.02*(1+math.Abs(grad[0])) && math.Abs(grad[0]-sides[0]) > 0.03*(1+math.Abs(grad[0])) {
					t.Errorf("t = %d: slope %g, by differences %v", observations, grad[0], sides)
				}
			}
		}
	}
}

// The residual's deviation is 1 where nobody knows anything, and the square root
// of the unlikeness where everything is known.
func TestDeviationOfTheResidual(t *testing.T) {
	for _, c := range []struct{ left, h, want float64 }{
		{1, 0.2, 1}, {1.7, 0.2, 1}, {0, 0.25, 0.5}, {-3, 0.25, 0.5}, {0.5, 0, math.Sqrt(0.5)}, {0.3, 1, 1},
	} {
		got, _ := leftover{level: c.left - 0.1}.deviation(0.1, c.h)
		if math.Abs(got-c.want) > 1e-12 {
			t.Errorf("left %g, unlikeness %g: deviation %g, want %g", c.left, c.h, got, c.want)
		}
	}
}
