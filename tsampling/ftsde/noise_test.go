package ftsde

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/privacy"
	"github.com/fbo-node/fbo/task"
)

// noiseAlone returns the noise, in units of the grid, with which one node would keep the
// promise by itself: what must be left of a sum's noise without that of those who
// collude.
func noiseAlone(t testing.TB, definition *task.Task) float64 {
	t.Helper()
	p := definition.Privacy
	adjacency := privacy.ReplaceOne
	if p.Adjacency == "zero-out" {
		adjacency = privacy.ZeroOut
	}
	sigma, err := privacy.Plan{
		Grid:      privacy.Grid{Norm: p.Clip, Bits: 30},
		Adjacency: adjacency,
		Dimension: settingsOf(definition).Cells * definition.Surrogate.Features,
		Rate:      1,
		Releases:  p.Releases,
		Parties:   1,
	}.Sigma(privacy.Promise{Epsilon: p.Epsilon, Delta: p.Delta, Bound: privacy.Tight})
	if err != nil {
		t.Fatal(err)
	}
	return float64(sigma)
}

// The parts of those who do not collude make up the noise of one, to a millionth.
func TestThePartsMakeUpTheNoise(t *testing.T) {
	for _, keys := range []string{
		"min_contributors: 4, committee: 4, max_colluding: 1",
		"min_contributors: 5, committee: 4, max_colluding: 3",
		"min_contributors: 2, committee: 4, max_colluding: 1",
		"min_contributors: 8, committee: 8, max_colluding: 2, adjacency: zero-out",
		"min_contributors: 8, committee: 8, max_colluding: 7, releases: 1",
		"min_contributors: 6, committee: 4, max_colluding: 1, clip: 3, delta: 1e-3, releases: 40",
	} {
		definition := newTask(t, setting{nodes: 8, features: 8, strategy: "cells: 2", privacy: keys})
		terms, err := ledger.NewTerms(definition)
		if err != nil {
			t.Fatal(err)
		}
		a := definition.Privacy.Aggregate
		honest := float64(a.MinContributors - a.MaxColluding)
		part := terms.Sigma / definition.Privacy.Clip * (1 << 30)
		if ratio := part * math.Sqrt(honest) / noiseAlone(t, definition); !near(ratio, 1, 1e-6) {
			t.Errorf("%s: the noise of %g parts is %.9g of what is due", keys, honest, ratio)
		}
		if terms.Numbers() != 16 {
			t.Errorf("%s: releases of %d numbers", keys, terms.Numbers())
		}
	}
}

// What the colluding contributors cannot subtract from the sums that their peers see
// has, over 2,000 numbers, the variance that is due: χ² keeps it within 13 % of that,
// but for one case in 10,000. With a tenth less noise in each part, or that of one
// contributor missing, it would be below, with a probability of 99 % and more.
func TestWhatColludersCannotSubtract(t *testing.T) {
	const features, rounds = 100, 20
	definition := newTask(t, setting{
		nodes: 5, features: features, strategy: "share_every: 1",
		privacy: fmt.Sprintf("min_contributors: 5, committee: 5, max_colluding: 2, releases: %d", rounds),
	})
	w := newWorld(t, definition)
	received := overhear(w)
	w.play(rounds)
	colluding := []int{1, 3}
	square, count := 0.0, 0.0
	unit := definition.Privacy.Clip / (1 << 30)
	for _, s := range w.members[0].result.Sums {
		for k, v := range s.Weights[0] {
			v *= 5 / unit // the average of five
			for _, i := range colluding {
				v -= float64(received[i].given[uint64(s.Round)][k])
			}
			square, count = square+v*v, count+1
		}
	}
	if count != features*rounds {
		t.Fatalf("%g numbers; %s", count, w.members[0].describe())
	}
	due := noiseAlone(t, definition)
	chi := distuv.ChiSquared{K: count}
	low, high := chi.Quantile(5e-5)/count, chi.Quantile(1-5e-5)/count
	if low < 0.88 || high > 1.13 {
		t.Fatalf("the test has no power: it accepts %g to %g of the variance", low, high)
	}
	ratio := square / count / (due * due)
	t.Logf("the variance is %.3f of what is due, expected %.3f to %.3f", ratio, low, high)
	if ratio < low || ratio > high {
		t.Errorf("the variance is %g of what is due, expected %g to %g", ratio, low, high)
	}
}

// The noise of two contributors, or of one in two rounds, has nothing in common: their
// correlation over 200 numbers is within five deviations of none, which chance exceeds
// for one of the 120 pairs less than once in 10^4 runs.
func TestNoTwoPartsShareNoise(t *testing.T) {
	const features, rounds = 200, 4
	definition := newTask(t, setting{features: features, strategy: "share_every: 1", privacy: fmt.Sprintf("releases: %d", rounds)})
	w := newWorld(t, definition)
	received := overhear(w)
	w.play(rounds)
	var parts [][]int64 // zeros and noise, as nobody has a model
	for _, h := range received {
		for round := range uint64(rounds) {
			parts = append(parts, h.given[round+1])
		}
	}
	for i, a := range parts {
		for _, b := range parts[:i] {
			if r := correlation(a, b); math.Abs(r) > 5/math.Sqrt(features) {
				t.Errorf("two parts have correlation %g", r)
			}
		}
	}
}

func correlation(a, b []int64) float64 {
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

// With fewer contributors than planned the noise would not suffice: whoever is
// missing, and whenever it went, there is no sum.
func TestNoSumOfTooFew(t *testing.T) {
	definition := newTask(t, setting{nodes: 5, strategy: "share_every: 1", privacy: "min_contributors: 4, committee: 5, max_colluding: 1, releases: 3"})
	for name, leave := range map[string]func(w *world, at int){
		"two never came": func(w *world, at int) {
			if at == 0 {
				w.crash(3)
				w.crash(4)
			}
		},
		"one never came, one went silent": func(w *world, at int) {
			if at == 0 {
				w.crash(4)
			} else {
				w.members[3].alive = false // the others take it for present
			}
		},
		"two went silent": func(w *world, at int) {
			w.members[3].alive, w.members[4].alive = false, false
		},
	} {
		w := newWorld(t, definition)
		for at := range 2 {
			leave(w, at)
			w.observe(0, 1, 2)
			if name == "two never came" && len(w.members[0].seen()) > 0 {
				t.Errorf("%s: a contribution to a sum that cannot come about", name)
			}
		}
		w.tick(longest)
		for _, m := range w.members[:3] {
			if len(m.result.Sums) > 0 {
				t.Errorf("%s: member %d has a sum: %s", name, m.index, m.describe())
			}
		}
	}
}
