package peerprior

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

const seeds = 12

// average over agents whose own designs differ.
func average(f func(seed uint64) float64) float64 {
	sum := 0.0
	for seed := range uint64(seeds) {
		sum += f(100+seed) / seeds
	}
	return sum
}

// With peers whose objective is the agent's own, the experts that listen gain weight, and what is suggested lies near the optimum that they know and
// the agent has not seen. Over 12 agents with 4 observations the mean distance
// was 0.27 alone and 0.05 with peers.
func TestAlikePeersAreFollowed(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	f := bump(0.7)
	means := l.peersOf(4, 20, f, 1)
	peerOdds := average(func(seed uint64) float64 {
		return l.considered(with(l.view(l.designs(8, random.SeedOf(seed)), f), means...)).peerOdds
	})
	t.Logf("weight of the experts that listen after 8 observations: %.3g", peerOdds)
	if !(peerOdds > 1-aloneOdds) {
		t.Errorf("similar peers have weight %.3g, not above the %.3g before any observation", peerOdds, 1-aloneOdds)
	}
	distance := func(means ...protocol.Mean) float64 {
		return average(func(seed uint64) float64 {
			view := with(l.view(l.designs(4, random.SeedOf(seed)), f), means...)
			got := l.suggest(view, 5, random.SeedOf(seed)).Design
			return math.Hypot(got.Float("x")-0.7, got.Float("y")-0.7)
		})
	}
	apart, together := distance(), distance(means...)
	t.Logf("distance to the optimum after 4 observations: %.3g alone, %.3g with peers", apart, together)
	if !(together < apart/2) {
		t.Errorf("the suggestions with peers are %.3g from the optimum, without %.3g", together, apart)
	}
}

// Peers that claim the contrary do not keep an agent from the optimum: it does not listen.
func TestContradictingPeersDoNoHarm(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	f := bump(0.7)
	means := l.peersOf(4, 20, scaled(f, -1), 1)
	const observations = 15
	distance := func(means ...protocol.Mean) float64 {
		return average(func(seed uint64) float64 {
			view := with(l.view(l.designs(observations, random.SeedOf(seed)), f), means...)
			got := l.suggest(view, observations+1, random.SeedOf(seed)).Design
			return math.Hypot(got.Float("x")-0.7, got.Float("y")-0.7)
		})
	}
	apart, together := distance(), distance(means...)
	t.Logf("after %d observations the suggestions are %.3g from the optimum, alone %.3g", observations, together, apart)
	if !(together < 1.5*apart+0.02) {
		t.Errorf("after %d observations the suggestions are %.3g from the optimum with contradicting peers, alone %.3g", observations, together, apart)
	}
}

// unlike is a function that no peer of the tests has seen.
func unlike(x []float64) float64 { return math.Sin(9*x[0]) * math.Cos(7*x[1]+1) }

// Peers whose means say nothing about the objective are believed no more than before any
// observation, and those whose means are its contrary soon less than one time in five.
func TestOwnObservationsPrevail(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	for name, peers := range map[string]func([]float64) float64{"bump": bump(0.7), "contrary": func(x []float64) float64 { return -unlike(x) }} {
		means := l.peersOf(4, 25, peers, 1)
		for _, observations := range []int{3, 10, 25, 60} {
			peerOdds := average(func(seed uint64) float64 {
				return l.considered(with(l.view(l.designs(observations, random.SeedOf(seed)), unlike), means...)).peerOdds
			})
			t.Logf("%s, t = %d: believed %.3f", name, observations, peerOdds)
			if most := map[string]float64{"bump": 1 - aloneOdds, "contrary": 0.2}[name]; observations >= 10 && !(peerOdds < most) {
				t.Errorf("%s, t = %d: believed with %.3f", name, observations, peerOdds)
			}
		}
	}
}

// Peers whose outputs have another unit and level are of the same use: their
// shape is the same.
func TestUnitsOfPeersDoNotMatter(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	f := bump(0.7)
	own := func(seed uint64) strategy.View { return l.view(l.designs(5, random.SeedOf(seed)), f) }
	for _, c := range []struct{ factor, level float64 }{{1e-6, 0}, {1e6, 0}, {1, 1e4}, {1, 1e6}, {1, -1e9}, {1, 1e11}, {1e6, 1e12}, {1e9, 1e9}, {1e12, 0}} {
		means := l.peersOf(4, 20, func(x []float64) float64 { return c.level + c.factor*f(x) }, 1)
		distance := average(func(seed uint64) float64 {
			got := l.strategy.Recommend(t.Context(), with(own(seed), means...), random.SeedOf(seed))
			return math.Hypot(got.Float("x")-0.7, got.Float("y")-0.7)
		})
		t.Logf("%g times, and %g more: %.3f from the optimum", c.factor, c.level, distance)
		if !(distance < 0.15) {
			t.Errorf("peers whose outputs are %g times the own and %g more: recommended designs lie %.3g from the optimum", c.factor, c.level, distance)
		}
	}
}

// A mean that is zero wherever the agent has observed predicts nothing, so its
// author gains no credit by what the agent observes; whichever models have the
// finer grid of sizes must not decide.
func TestSilencePredictsNothing(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	m := l.peersOf(1, 25, bump(0.7), 1)[0]
	for name, f := range map[string]func([]float64) float64{"unlike": unlike, "bump": bump(0.3), "slope": func(x []float64) float64 { return x[0] }} {
		for _, observations := range []int{5, 15, 60, 120} {
			o := l.considered(with(l.view(l.designs(observations, random.SeedOf(3)), f), m))
			clear(o.signals[0].atOwn)
			weighPeers(o.signals, o.data)
			t.Logf("%s, t = %d: use %.3g", name, observations, o.signals[0].use)
			if use := o.signals[0].use; !(use <= (1+useOdds)/2) {
				t.Errorf("%s, t = %d: a peer who says nothing is of use with probability %.3g", name, observations, use)
			}
		}
	}
}
