package peerprior

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
)

func TestTellingPeersApartCostsInformation(t *testing.T) {
	peer := func(use, sign float64) said { return said{use: use, sign: sign} }
	for name, c := range map[string]struct {
		peers []said
		nats  float64
	}{
		"all the same":        {[]said{peer(.3, .5), peer(.3, .5), peer(.3, .5)}, 0},
		"all of use":          {[]said{peer(1, 1), peer(1, 1)}, 0},
		"all contrary":        {[]said{peer(1, -1), peer(1, -1)}, 0},
		"half of use":         {[]said{peer(1, 1), peer(0, 1), peer(1, 1), peer(0, 1)}, 4 * math.Ln2},
		"half contrary":       {[]said{peer(1, 1), peer(1, -1)}, 2 * math.Ln2},
		"three kinds":         {[]said{peer(1, 1), peer(1, -1), peer(0, 0)}, 3 * math.Log(3)},
		"one, in doubt":       {[]said{peer(.5, 0)}, 0},
		"none that is of use": {[]said{peer(0, 1), peer(0, -1)}, 0},
	} {
		together, nats := levelled(c.peers)
		if math.Abs(nats-c.nats) > 1e-12 {
			t.Errorf("%s: %g nats, want %g", name, nats, c.nats)
		}
		for _, p := range together {
			if p.use != together[0].use || p.sign != together[0].sign {
				t.Errorf("%s: together they are %+v", name, together)
			}
		}
	}
}

func TestLevelledKeepsTheAverages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var peers []said
		use, sign := 0.0, 0.0
		for range rapid.IntRange(1, 12).Draw(t, "peers") {
			s := said{use: rapid.Float64Range(0, 1).Draw(t, "use"), sign: rapid.Float64Range(-1, 1).Draw(t, "sign")}
			peers = append(peers, s)
			use, sign = use+s.use, sign+s.use*s.sign
		}
		together, nats := levelled(peers)
		if nats < 0 || nats > float64(len(peers))*math.Log(3)+1e-9 {
			t.Fatalf("%g nats for %d peers", nats, len(peers))
		}
		gotUse, gotSign := 0.0, 0.0
		for _, p := range together {
			gotUse, gotSign = gotUse+p.use, gotSign+p.use*p.sign
		}
		if math.Abs(gotUse-use) > 1e-9 || math.Abs(gotSign-sign) > 1e-9 {
			t.Fatalf("use %g and sign %g became %g and %g", use, sign, gotUse, gotSign)
		}
	})
}

// Peers whose objectives are white noise are picked by chance; that must not pass
// for evidence, and that they disagree must count against them. Over 60 agents with 8
// observations, each among 9 such peers, "joined" has .05 on average, with a standard
// error of .03, and would have .17 if agreement were told in common units instead.
func TestNoisyPeersAreNoEvidence(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	const agents = 60
	joined, square := 0.0, 0.0
	for agent := range uint64(agents) {
		var means []protocol.Mean
		for peer := range uint64(9) {
			rng := random.SeedOf(1000*agent+peer).Stream("noise", 0)
			means = append(means, l.peersOf(1, 8, func([]float64) float64 { return 0.3 * rng.NormFloat64() }, 50*agent+peer)...)
		}
		view := l.view(l.designs(8, random.SeedOf(agent)), bump(0.2+0.01*float64(agent)))
		p := 1 - l.considered(with(view, means...)).aloneProbability
		joined, square = joined+p/agents, square+p*p/agents
	}
	t.Logf("probability of joined among noise: %.3f, deviation between agents %.3f", joined, math.Sqrt(square-joined*joined))
	if joined > 0.12 {
		t.Errorf("noise is taken for evidence: joined has %.3f", joined)
	}
}

func TestThoseWhoTellMostAreHeard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []*share
		for range rapid.IntRange(0, 40).Draw(t, "shares") {
			all = append(all, &share{Mean: protocol.Mean{Explained: float64(rapid.IntRange(1, 9).Draw(t, "tenths")) / 10}})
		}
		n := rapid.IntRange(1, 30).Draw(t, "heard")
		want := slices.Clone(all)
		slices.SortStableFunc(want, func(a, b *share) int { return cmp.Compare(b.Explained, a.Explained) })
		if got := mostTelling(all, n); !slices.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("of %d shares others than the first %d in order are heard", len(all), n)
		}
	})
}
