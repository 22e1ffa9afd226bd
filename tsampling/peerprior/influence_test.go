package peerprior

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/surrogate"
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

// greatestUse is that of any peer in any view.
func greatestUse(b *belief) float64 {
	use := 0.0
	for _, p := range b.peers {
		for view := range p.views {
			use = max(use, p.views[view].use)
		}
	}
	return use
}

// With peers whose objective is the agent's own, the probability that no peer is
// of use falls, and what is suggested lies near the optimum that they know and
// the agent has not seen. Over 12 agents with 4 observations the mean distance
// was 0.27 alone and 0.05 with peers.
func TestAlikePeersAreFollowed(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	f := bump(0.7)
	means := l.peersOf(4, 20, f, 1)
	alone := average(func(seed uint64) float64 {
		return l.considered(with(l.view(l.designs(8, random.SeedOf(seed)), f), means...)).aloneProbability
	})
	t.Logf("probability of alone after 8 observations: %.3g", alone)
	if !(alone < aloneOdds) {
		t.Errorf("with peers alike alone has %.3g, more than the %.3g before any observation", alone, aloneOdds)
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

// Peers that claim the contrary do not keep an agent from the optimum: it turns
// their means round, or does not listen.
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

// After fifteen observations it is clear who says the contrary.
func TestContraryPeersAreTurned(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	f := bump(0.7)
	means := append(l.peersOf(2, 20, f, 1), l.peersOf(2, 20, scaled(f, -1), 5)...)
	for i, want := range []float64{1, 1, -1, -1} {
		got := average(func(seed uint64) float64 {
			b := l.considered(with(l.view(l.designs(15, random.SeedOf(seed)), f), means[i]))
			return b.peers[0].views[inOwnUnits].sign
		})
		t.Logf("peer %d: sign %.3f", i, got)
		if !(got*want > 0.8) {
			t.Errorf("peer %d: sign %.3f, want near %g", i, got, want)
		}
	}
}

// Peers who share the level of the objective and nothing of its shape may know
// more than nobody, and yet an agent must not explore less for it.
func TestLevelIsNoReasonToBeBold(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	m := l.peersOf(1, 25, bump(0.3), 1)[0]
	clear(m.Values)
	m.Values[0], m.Level = 1e-3, 0.3
	bold := average(func(seed uint64) float64 {
		return l.considered(with(l.view(l.designs(15, random.SeedOf(seed)), bump(0.7)), m, m, m)).leastBold
	})
	t.Logf("least boldness %.3f", bold)
	if !(bold > 0.8) {
		t.Errorf("least boldness %.3f with peers that say nothing of the shape", bold)
	}
}

// unlike is a function that no peer of the tests has seen.
func unlike(x []float64) float64 { return math.Sin(9*x[0]) * math.Cos(7*x[1]+1) }

// Where an agent has observed, the functions drawn agree with what it measured,
// whatever the peers say, and after many observations they do everywhere. Peers whose
// means say nothing about its objective are ever less often listened to: by 60
// observations in one suggestion of ten at most. Those whose means are the contrary of it
// are known for it by 10, and listened to in four suggestions of five.
func TestOwnObservationsPrevail(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	for name, peers := range map[string]func([]float64) float64{"bump": bump(0.7), "contrary": func(x []float64) float64 { return -unlike(x) }} {
		means := l.peersOf(4, 25, peers, 1)
		for _, observations := range []int{3, 10, 25, 60, 120} {
			var own, use, off, spread, apart float64
			const agents = 4
			for seed := range uint64(agents) {
				x := l.designs(observations, random.SeedOf(seed))
				view := with(l.view(x, unlike), means...)
				b := l.considered(view)
				own += b.ownProbability() / agents
				use += greatestUse(b) / agents
				e, s, a := l.fits(b, x, seed)
				off, spread, apart = off+e/agents, spread+s/agents, apart+a/agents
			}
			t.Logf("%s, t = %d: own probability %.3f, use %.3g, squared error at own points %.4f, elsewhere %.4f (variance of the outputs %.3f)", name, observations, own, use, off, apart, spread)
			if name == "bump" && observations >= 60 && !(own > 0.9) {
				t.Errorf("%s, t = %d: listens to peers with probability %.3f", name, observations, 1-own)
			}
			if name == "contrary" && observations >= 10 && !(own < 0.2 && use > 0.9) {
				t.Errorf("%s, t = %d: listens to peers with probability %.3f, and takes them for useful with %.3f", name, observations, 1-own, use)
			}
			if observations >= 120 && !(apart < 0.1*spread) {
				t.Errorf("%s, t = %d: drawn functions miss the objective by %.3g elsewhere, where outputs vary by %.3g", name, observations, apart, spread)
			}
			if observations >= 10 && !(off < 0.05*spread) {
				t.Errorf("%s, t = %d: drawn functions miss the own outputs by %.3g, which vary by %.3g", name, observations, off, spread)
			}
		}
	}
}

// fits compares functions drawn from models with peers to the outputs at the own
// points, and to the true function elsewhere, up to a constant: the mean squared
// differences, and the variance of the outputs.
func (l *lab) fits(b *belief, x [][]float64, seed uint64) (off, spread, elsewhere float64) {
	units := l.units(x)
	fresh := l.designs(50, random.SeedOf(seed+1000))
	const draws = 8
	for i := range uint64(draws) {
		at := random.SeedOf(seed)
		f, err := b.drawJoined(at.Stream("sample", i), at.Stream("model", i))
		if err != nil {
			l.t.Fatal(err)
		}
		var own, far []float64
		for j, p := range x {
			own = append(own, f.Value(p)-b.data.y[j])
		}
		for _, p := range fresh {
			far = append(far, f.Value(p)-(unlike(p)-units.Level)/units.Scale)
		}
		_, e := moments(own)
		_, a := moments(far)
		off, elsewhere = off+e/draws, elsewhere+a/draws
	}
	_, spread = moments(b.data.y)
	return off, spread, elsewhere
}

// units are those of unlike at these designs.
func (l *lab) units(x [][]float64) surrogate.Units {
	l.t.Helper()
	_, _, units, err := observations(l.task, l.view(x, unlike))
	if err != nil {
		l.t.Fatal(err)
	}
	return units
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
		use := average(func(seed uint64) float64 {
			return l.considered(with(own(seed), means...)).peers[0].views[inCommonUnits].use
		})
		t.Logf("%g times, and %g more: %.3f from the optimum; use in common units %.3g", c.factor, c.level, distance, use)
		if !(distance < 0.15) {
			t.Errorf("peers whose outputs are %g times the own and %g more: recommended designs lie %.3g from the optimum", c.factor, c.level, distance)
		}
		if c.factor > 100 && !(use < 0.1) {
			t.Errorf("outputs %g times the own and %g more are called common with probability %.3g", c.factor, c.level, use)
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
			b := l.considered(with(l.view(l.designs(observations, random.SeedOf(3)), f), m))
			for view := range b.peers[0].views {
				clear(b.peers[0].views[view].atOwn)
			}
			judge(b.peers, b.data)
			use := greatestUse(b)
			t.Logf("%s, t = %d: use %.3g", name, observations, use)
			if !(use <= (1+peerOdds)/2) {
				t.Errorf("%s, t = %d: a peer who says nothing is of use with probability %.3g", name, observations, use)
			}
		}
	}
}

// Peers that seek the contrary do not explore for the agent, which therefore stays as
// bold as when it samples alone; those that seek the same do.
func TestContraryPeersDoNotExplore(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	own := l.view(l.designs(40, random.SeedOf(3)), bump(0.6))
	alike := l.considered(with(own, l.peersOf(4, 20, bump(0.6), 5)...))
	contrary := l.considered(with(own, l.peersOf(4, 20, scaled(bump(0.6), -1), 5)...))
	if alike.leastBold > 0.3 || contrary.leastBold < 0.7 {
		t.Errorf("boldness at least %.3f among alike peers, %.3f among contrary ones", alike.leastBold, contrary.leastBold)
	}
	for _, p := range contrary.peers {
		if v := p.views[inOwnUnits]; v.use < 0.9 || v.sign > -0.5 {
			t.Errorf("a contrary peer has use %.3f and sign %.3f", v.use, v.sign)
		}
	}
}
