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
			p := agree(l.considered(with(l.view(nil, bump(0)), means...)).peers).nobody
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

// Nine peers that share a part of what they say, or in three groups of three: who
// claims more than he knows is still like the others, and groups are not all alike.
func TestEverybodyAlikeOrGroups(t *testing.T) {
	everybody := func(groups int, shared float64) float64 {
		const points = 50
		common := make([][]float64, groups)
		for g := range common {
			rng := random.SeedOf(uint64(g)).Stream("common", 0)
			for range points {
				common[g] = append(common[g], rng.NormFloat64())
			}
		}
		var peers []*listened
		for i := range 9 {
			p := &listened{}
			rng := random.SeedOf(uint64(i)).Stream("own", 0)
			for x := range points {
				p.known = append(p.known, 0.8)
				v := math.Sqrt(shared)*common[i%groups][x] + math.Sqrt(1-shared)*rng.NormFloat64()
				p.views[inOwnUnits].mean = append(p.views[inOwnUnits].mean, 0.9*v)
			}
			peers = append(peers, p)
		}
		return agree(peers).everybody
	}
	exact, vague, groups := everybody(1, .9), everybody(1, .4), everybody(3, .9)
	t.Logf("probability that all are alike: %.2f where they agree, %.2f where they claim too much, %.2f in groups", exact, vague, groups)
	if !(exact > 0.4) || !(vague > 0.4) || !(groups < 0.35) {
		t.Errorf("all are alike with probability %.2f where they agree, %.2f where they claim too much and %.2f in groups", exact, vague, groups)
	}
}

func TestDoubtIsAProbability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const points = 5
		var peers []*listened
		for range rapid.IntRange(0, 6).Draw(t, "peers") {
			p := &listened{}
			known := rapid.Float64Range(0, mostKnown).Draw(t, "known")
			for range points {
				p.known = append(p.known, known)
				p.views[inOwnUnits].mean = append(p.views[inOwnUnits].mean, rapid.Float64Range(-mostDeviations, mostDeviations).Draw(t, "mean"))
			}
			peers = append(peers, p)
		}
		a := agree(peers)
		if !(a.everybody >= 0) || a.everybody > 1 {
			t.Fatalf("all are alike with probability %g", a.everybody)
		}
		p := a.nobody
		if !(p >= aloneOdds) || p >= 1 {
			t.Fatalf("nobody is alike with probability %g", p)
		}
		if len(peers) < 2 && p != aloneOdds {
			t.Fatalf("%d peers cannot disagree, and yet nobody is alike with probability %g", len(peers), p)
		}
	})
}
