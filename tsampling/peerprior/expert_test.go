package peerprior

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// someData are outputs at random designs.
func someData(l *lab, rng *rand.Rand, count int) *data {
	h := gp.Hyperparameters{Lengthscales: []float64{0.3, 0.5}, Noise: 0.01 + 0.1*rng.Float64()}
	var y []float64
	for range count {
		y = append(y, rng.NormFloat64())
	}
	return newData(l.strategy.spec, h, ownData{x: l.designs(count, random.SeedOf(rng.Uint64())), y: y})
}

// someExpert has a mean and deviations drawn at random.
func someExpert(rng *rand.Rand, count int) *expert {
	e := &expert{odds: 0.1 + rng.Float64(), size: 0.5 + 2*rng.Float64()}
	if rng.IntN(3) == 0 {
		return e
	}
	for range count {
		e.mean, e.deviations = append(e.mean, rng.NormFloat64()), append(e.deviations, 0.2+0.8*rng.Float64())
	}
	return e
}

// What an expert says of its observations one by one is, all together, their density under
// its process: f = size·(m + a·r) + c, with r of the kernel's process, c normal, and noise.
func TestLogsAreThoseOfTheJointDensity(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		n := rapid.IntRange(1, 12).Draw(rt, "observations")
		d, e := someData(l, rng, n), someExpert(rng, n)
		if !e.observe(d) {
			rt.Fatal("cannot be computed")
		}
		mean, covariance := make([]float64, n), mat.NewSymDense(n, nil)
		for i := range n {
			mean[i] = e.size * e.meanAt(i)
			for j := range i + 1 {
				v := e.size * e.size * (e.deviationAt(i)*e.deviationAt(j)*d.k.At(i, j) + levelSize*levelSize)
				if i == j {
					v += d.h.Noise
				}
				covariance.SetSym(i, j, v)
			}
		}
		normal, ok := distmv.NewNormal(mean, covariance, nil)
		if !ok {
			rt.Skip("no density")
		}
		got := -float64(n) * math.Log(2*math.Pi) / 2
		for _, log := range e.logs {
			got += log
		}
		if want := normal.LogProb(d.y); math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
			rt.Fatalf("log density %g, want %g", got, want)
		}
		// The level is where its density given the observations is largest.
		precise := func(c float64) float64 {
			rest := make([]float64, n)
			for i := range rest {
				rest[i] = mean[i] + c
			}
			within := mat.NewSymDense(n, nil)
			for i := range n {
				for j := range i + 1 {
					within.SetSym(i, j, covariance.At(i, j)-e.size*e.size*levelSize*levelSize)
				}
			}
			given, ok := distmv.NewNormal(rest, within, nil)
			if !ok {
				rt.Skip("no density")
			}
			return given.LogProb(d.y) - c*c/(2*levelSize*levelSize*e.size*e.size)
		}
		if at := precise(e.level); at < precise(e.level+1e-3) || at < precise(e.level-1e-3) {
			rt.Fatalf("a level of %g is not the most probable", e.level)
		}
	})
}

// Weights sum to 1, are the odds before the first observation, and never fall below what is
// dealt out again: so whoever was wrong can come back.
func TestExpertWeights(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		n := rapid.IntRange(0, 12).Draw(rt, "observations")
		d := someData(l, rng, n)
		var all []*expert
		odds := 0.0
		for range rapid.IntRange(1, 6).Draw(rt, "experts") {
			e := someExpert(rng, n)
			all, odds = append(all, e), odds+e.odds
		}
		total := 0.0
		weigh(all, d)
		for _, e := range all {
			total += e.weight
			if n == 0 && math.Abs(e.weight-e.odds) > 1e-12 {
				rt.Fatalf("without observations a weight of %g, with odds of %g", e.weight, e.odds)
			}
			if least := e.odds * switching(n); e.weight < least-1e-12 {
				rt.Fatalf("a weight of %g, with odds of %g", e.weight, e.odds)
			}
		}
		if math.Abs(total-1) > 1e-9 {
			rt.Fatalf("weights sum to %g", total)
		}
	})
}

// The expert that is right gains, and one that cannot be computed has no weight.
func TestWhoPredictsGains(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	rng := random.SeedOf(3).Stream("t", 0)
	d := someData(l, rng, 10)
	right := &expert{odds: 0.5, size: 1, mean: d.y, deviations: slices.Repeat([]float64{.1}, 10)}
	wrong, broken := &expert{odds: 0.5, size: 1}, &expert{odds: 0.5, size: math.NaN()}
	weigh([]*expert{right, wrong, broken}, d)
	if right.weight < 0.8 || broken.weight != 0 || math.Abs(weight([]*expert{right, wrong})-1) > 1e-12 {
		t.Errorf("weights %g where it is right, %g wrong, %g broken", right.weight, wrong.weight, broken.weight)
	}
	weigh([]*expert{broken}, d)
	if broken.weight != 0 {
		t.Errorf("a broken expert among such has weight %g", broken.weight)
	}
}

// TestExpertsOfOneCovarianceShareItsRoot: the two who judge a peer by one size factor one
// matrix, and find what they find each by itself.
func TestExpertsOfOneCovarianceShareItsRoot(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	rng := random.SeedOf(3).Stream("t", 0)
	d := someData(l, rng, 12)
	deviations, mean := slices.Repeat([]float64{0.7}, 12), make([]float64, 12)
	for i := range mean {
		mean[i] = rng.NormFloat64()
	}
	with, without := experts(0.5, nil, mean, deviations), experts(0.5, nil, nil, deviations)
	weigh(slices.Concat(with, without), d)
	for i := range with {
		if with[i].root == nil || with[i].root != without[i].root {
			t.Errorf("size %g: two roots of one covariance", with[i].size)
		}
		alone := experts(0.5, nil, nil, slices.Clone(deviations))[i]
		if !alone.observe(d) || !slices.Equal(alone.logs, without[i].logs) || alone.level != without[i].level {
			t.Errorf("size %g: an expert that shares its root finds %v, want %v", alone.size, without[i].logs, alone.logs)
		}
	}
}
