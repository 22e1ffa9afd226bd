package optprior

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

func mixturesOf(spec *task.Task, count int, seed uint64) []*Mixture {
	rng := random.SeedOf(seed).Stream("densities", 0)
	var all []*Mixture
	for range count {
		all = append(all, mixtureOf(spec, randomDensity(spec, rng)))
	}
	return all
}

// The formula, and what follows from it whatever the densities say: a least value.
func TestWhereIsBoundedBelow(t *testing.T) {
	spec := newTask(t, mixed)
	rng := random.SeedOf(1).Stream("points", 0)
	for i := range 100 {
		densities := mixturesOf(spec, 1+i%7, uint64(i))
		trust, weight := 0.05+0.9*rng.Float64(), 5*rng.Float64()
		f := LogPrior(densities, trust, weight)
		for range 20 {
			x := acquisition.Sample(spec.Space, rng)
			average := 0.0
			for _, m := range densities {
				average += math.Exp(logOf(m, x)) / float64(len(densities))
			}
			got, want := f.Value(x), weight*math.Log(1-trust+trust*average)
			if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("%g, want %g", got, want)
			}
			if least := weight * math.Log(1-trust); got < least-1e-12 {
				t.Fatalf("%g with trust %g and weight %g, the least is %g", got, trust, weight, least)
			}
		}
	}
}

// Densities of 1 everywhere say nothing: the widest are within 1 % of that.
func TestWhereOfEverywhere(t *testing.T) {
	spec := newTask(t, mixed)
	rng := random.SeedOf(2).Stream("points", 0)
	for range 50 {
		even := mixtureOf(spec, around(spec, protocol.MaxSpread, acquisition.Sample(spec.Space, rng)))
		f := LogPrior([]*Mixture{even, even}, 0.9, 5)
		if got := f.Value(acquisition.Sample(spec.Space, rng)); math.Abs(got) > 0.05 {
			t.Errorf("a term of %g", got)
		}
	}
}

// As for TestGradientOfTheLogarithm.
func TestGradientOfWhere(t *testing.T) {
	spec := newTask(t, mixed)
	rng := random.SeedOf(3).Stream("gradient", 0)
	for i := range 200 {
		var densities []*Mixture
		for range 1 + i%4 {
			d := randomDensity(spec, rng)
			for j := range d.Components {
				d.Components[j].Std = max(d.Components[j].Std, 0.05)
			}
			densities = append(densities, mixtureOf(spec, d))
		}
		f := LogPrior(densities, 0.9, 5/float64(1+i%10))
		x := acquisition.Sample(spec.Space, rng)
		for j := range x[3:] {
			x[3+j] = 0.2 + 0.6*x[3+j]
		}
		grad := []float64{7, 7, 7, 7, 7, 7} // what is in it does not count
		if value := f.Gradient(grad, x); value != f.Value(x) {
			t.Fatalf("Gradient says %g, Value %g", value, f.Value(x))
		}
		fbotest.CheckGradient(t, grad, x, f.Value, 1e-4)
	}
}

// Values and slopes are finite at the narrowest densities of the most parameters, at their
// centres and where they underflow.
func TestWhereIsFinite(t *testing.T) {
	l := &Layout{Dim: 100}
	for i := range l.Dim {
		l.Numbers = append(l.Numbers, i)
	}
	near, far := make([]float64, l.Dim), make([]float64, l.Dim)
	for i := range far {
		far[i] = 1
	}
	f := LogPrior([]*Mixture{Around(l, protocol.MinSpread, near)}, 0.9, 5)
	for _, x := range [][]float64{near, far} {
		grad := make([]float64, l.Dim)
		value := f.Gradient(grad, x)
		for _, v := range append(grad, value) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("a value or slope of %v at %v", v, x[:2])
			}
		}
	}
	if v, least := f.Value(far), 5*math.Log(0.1); math.Abs(v-least) > 1e-9 {
		t.Errorf("%g where nothing is believed to be", f.Value(far))
	}
}

// One peer more, wherever it points, takes at most weight·log((n+1)/n) from any place, and
// gives to none more than its peak is worth among so many; what the others agree on stays
// the best place.
func TestOneFarPeerAmongMany(t *testing.T) {
	const trust, weight, spread = 0.9, 5, 0.2
	spec := newTask(t, plane)
	rng := random.SeedOf(4).Stream("points", 0)
	for _, n := range []int{4, 16, 63} {
		var honest []*Mixture
		for range n {
			honest = append(honest, mixtureOf(spec, around(spec, spread, []float64{0.2 + 0.1*rng.Float64(), 0.2 + 0.1*rng.Float64()})))
		}
		liar := mixtureOf(spec, around(spec, spread, []float64{0.95, 0.95}))
		before, after := LogPrior(honest, trust, weight), LogPrior(append(honest[:n:n], liar), trust, weight)
		most := weight * math.Log(float64(n+1)/float64(n))
		best, at := math.Inf(-1), []float64(nil)
		for range 2000 {
			x := acquisition.Sample(spec.Space, rng)
			moved := after.Value(x) - before.Value(x)
			if moved < -most-1e-12 {
				t.Fatalf("%d peers, %v: the far one takes %g, at most %g", n, x, -moved, most)
			}
			if up := weight * math.Log1p(trust/(1-trust)*math.Exp(logOf(liar, x))/float64(n+1)); moved > up+1e-12 {
				t.Fatalf("%d peers, %v: the far one gives %g, at most %g", n, x, moved, up)
			}
			if v := after.Value(x); v > best {
				best, at = v, x
			}
		}
		if math.Hypot(at[0]-0.25, at[1]-0.25) > 0.15 {
			t.Errorf("%d peers around 0.25 and one far away: the best place is %v", n, at)
		}
	}
}
