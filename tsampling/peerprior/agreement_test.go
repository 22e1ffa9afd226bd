package peerprior

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
)

// Nine peers with eight observations each: of functions that are alike, of white
// noise, and some of each. With 20 such groups the standard
// errors are at most .05.
func TestPeersThatDisagreeAreDoubted(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	const groups, peers = 20, 9
	doubt := func(alike int) (mean, least float64) {
		least = 1
		for group := range uint64(groups) {
			var means []protocol.Mean
			for k := range uint64(peers) {
				rng := random.SeedOf(1000*group+k).Stream("noise", 0)
				f := func([]float64) float64 { return 0.3 * rng.NormFloat64() }
				if int(k) < alike {
					f = bump(0.2 + 0.03*float64(group))
				}
				means = append(means, l.peersOf(1, 8, f, 50*group+k)...)
			}
			b := l.considered(with(l.view(nil, bump(0)), means...))
			p := agree(l.strategy.compare(b.data, b.peers)[inOwnUnits]).nobody
			mean, least = mean+p/groups, min(least, p)
		}
		return mean, least
	}
	noise, least := doubt(0)
	some, _ := doubt(5)
	alike, _ := doubt(peers)
	t.Logf("probability that nobody is alike: among noise %.3f, with five of nine alike %.3f, all alike %.3f", noise, some, alike)
	if !(noise > 0.6) || !(some < 0.3) || !(alike < aloneOdds+0.02) {
		t.Errorf("the probability that nobody is alike is %.3f among noise, %.3f with five of nine alike and %.3f with all", noise, some, alike)
	}
	if least < aloneOdds {
		t.Errorf("chance agreement of noise raised the odds of listening: %.3f", least)
	}
}

// Nine peers that are alike, all of them or in three groups of three; and such that
// share less than they claim to know, who are not alike, but not by that nobody's
// like either.
func TestEverybodyAlikeOrGroups(t *testing.T) {
	peers := func(groups int, shared float64) agreement {
		const points = 50
		common := make([][]float64, groups)
		for g := range common {
			rng := random.SeedOf(uint64(g)).Stream("common", 0)
			for range points {
				common[g] = append(common[g], rng.NormFloat64())
			}
		}
		var all []*compared
		c := uncorrelated(points)
		for i := range 9 {
			var o inferred
			rng := random.SeedOf(uint64(i)).Stream("own", 0)
			for x := range points {
				v := math.Sqrt(shared)*common[i%groups][x] + math.Sqrt(1-shared)*rng.NormFloat64()
				o.at, o.values, o.noise = append(o.at, x), append(o.values, v), append(o.noise, peerNoise)
			}
			all = append(all, c.prepare(o, 0, 1))
		}
		return agree(c.compare(all)[inOwnUnits])
	}
	exact, vague, groups := peers(1, .9), peers(1, .4), peers(3, .9)
	t.Logf("where they agree %+v, where they claim too much %+v, in groups %+v", exact, vague, groups)
	if !(exact.everybody > 0.9) || !(groups.everybody < 0.1) {
		t.Errorf("all are alike with probability %.2f where they agree and %.2f in groups", exact.everybody, groups.everybody)
	}
	if exact.nobody > aloneOdds || groups.nobody > aloneOdds {
		t.Errorf("nobody is alike with probability %.2f where all agree and %.2f in groups", exact.nobody, groups.nobody)
	}
}

func TestDoubtIsAProbability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := uncorrelated(5)
		peers := comparedAtRandom(t, c)
		a := agree(c.compare(peers)[rapid.IntRange(inOwnUnits, inCommonUnits).Draw(t, "units")])
		if !(a.everybody >= 0) || a.everybody > 1 {
			t.Fatalf("all are alike with probability %g", a.everybody)
		}
		if !(a.nobody >= aloneOdds) || a.nobody >= 1 {
			t.Fatalf("nobody is alike with probability %g", a.nobody)
		}
		if !(a.evidence >= leastAgreement) || math.IsInf(a.evidence, 0) {
			t.Fatalf("what peers say is %g times as probable if some are alike", a.evidence)
		}
		if len(peers) < 2 && (math.Abs(a.nobody-aloneOdds) > 1e-12 || math.Abs(a.evidence-1) > 1e-12) {
			t.Fatalf("%d peers cannot disagree, and yet nobody is alike with probability %g", len(peers), a.nobody)
		}
	})
}

// Of peers that say the contrary of each other as often as the same there is no
// evidence that any two are alike, however large what they say.
func TestContrariesAreNoAgreement(t *testing.T) {
	for _, nats := range []float64{.1, 1, 5, 50, 1e6} {
		pairs := make([][]likeness, 9)
		for i := range pairs {
			pairs[i] = make([]likeness, len(pairs))
			for j := range i {
				of := likeness{alike: nats, contrary: -nats}
				if (i+j)%2 == 1 {
					of = likeness{alike: -nats, contrary: nats}
				}
				pairs[i][j], pairs[j][i] = of, of
			}
		}
		if a := agree(pairs); a.evidence > 1 {
			t.Errorf("of %g nats for likeness as often as against it the evidence is %g", nats, a.evidence)
		}
	}
}

func TestPatience(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		peers := rapid.IntRange(1, mostPeers).Draw(t, "peers")
		evidence := math.Exp(rapid.Float64Range(math.Log(leastAgreement), 300).Draw(t, "nats"))
		p := patience(peers, evidence)
		if single := patience(1, 1); !(p > 0) || p > single {
			t.Fatalf("with evidence %g of %d peers patience is %g; with a single one, which cannot disagree, it is %g", evidence, peers, p, single)
		}
		if more := patience(peers, 2*evidence); more < p {
			t.Errorf("twice the evidence of agreement makes patience %g, from %g", more, p)
		}
		if fewer := patience(max(1, peers-1), evidence); fewer < p {
			t.Errorf("with a peer less patience is %g, from %g", fewer, p)
		}
	})
	// Twenty peers that agreed would show it.
	if single, many := patience(1, 1), patience(20, 1); !(many < single/10) {
		t.Errorf("where nothing tells whether peers agree patience is %g with twenty and %g with one", many, single)
	}
}
