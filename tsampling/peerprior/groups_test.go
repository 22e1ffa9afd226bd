package peerprior

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
)

// wave runs along a direction; two of different directions or a quarter apart have
// nothing in common.
func wave(u, v, phase float64) func([]float64) float64 {
	return func(x []float64) float64 { return math.Cos(2*math.Pi*(u*x[0]+v*x[1]) + phase) }
}

// clusters are three objectives that have nothing in common.
var clusters = []func([]float64) float64{wave(1, 0, 0), wave(0, 1, 1), wave(1, 1, 2)}

// clustered are the means of four agents for each of the clusters, in turn.
func (l *lab) clustered(observations int, seed uint64) []protocol.Mean {
	var means []protocol.Mean
	for k := range 4 * len(clusters) {
		means = append(means, l.peersOf(1, observations, clusters[k%len(clusters)], 100*seed+uint64(k))...)
	}
	return means
}

// Of 20 sets of 12 peers with 20 observations each almost all the pairs that are alike
// come to one group, and almost none of the others.
func TestPeersAlikeComeToOneGroup(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	const sets = 20
	var together, pairs [2]float64 // of the pairs that are unlike and alike
	for set := range uint64(sets) {
		b := l.considered(with(l.view(nil, bump(0)), l.clustered(20, set)...))
		groups := groupsOf(l.strategy.compare(b.data, b.peers)[inOwnUnits])
		of := make([]int, len(b.peers))
		for g, members := range groups {
			for _, i := range members {
				of[i] = g
			}
		}
		for i := range b.peers {
			for j := range i {
				alike := 0
				if i%len(clusters) == j%len(clusters) {
					alike = 1
				}
				pairs[alike]++
				if of[i] == of[j] {
					together[alike]++
				}
			}
		}
	}
	t.Logf("in one group: %.3f of the pairs alike, %.3f of the others", together[1]/pairs[1], together[0]/pairs[0])
	if !(together[1] > 0.97*pairs[1]) || !(together[0] < 0.02*pairs[0]) {
		t.Errorf("in one group are %.3f of the pairs alike and %.3f of the others", together[1]/pairs[1], together[0]/pairs[0])
	}
}

// Among peers of which four are like itself and eight are not an agent with six
// observations draws a consensus that correlates with its objective. The correlation
// counts as 0 where it draws none, and is averaged over 20 agents.
func TestAgentHearsItsOwnGroup(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	const agents = 20
	expected, square := 0.0, 0.0
	for agent := range uint64(agents) {
		own := clusters[agent%uint64(len(clusters))]
		b := l.considered(with(l.view(l.designs(6, random.SeedOf(1000+agent)), own), l.clustered(10, 50+agent)...))
		truth := make([]float64, len(l.strategy.points))
		for i, x := range l.strategy.points {
			truth[i] = own(x)
		}
		heard := 0.0
		correlations := map[*peerPrior]float64{}
		for _, m := range b.models {
			if _, ok := correlations[m.prior]; !ok {
				f := l.features.Function(m.prior.weights)
				said := make([]float64, len(truth))
				for i, x := range l.strategy.points {
					said[i] = f.Value(x)
				}
				correlations[m.prior] = correlation(said, truth)
			}
			heard += math.Exp(m.logPrior+m.logEvidence-b.logTotal) * correlations[m.prior]
		}
		expected, square = expected+heard/agents, square+heard*heard/agents
	}
	t.Logf("correlation %.3f, deviation between agents %.3f", expected, math.Sqrt(square-expected*expected))
	if expected < 0.85 {
		t.Errorf("what agents hear correlates with their objectives by %.3f only", expected)
	}
}

// A peer that says it measures in other units than it does makes no peers alike in common
// units that are not: whether its values are right, or a hundred times too large or too small,
// all but no two that are unlike come to one group there.
func TestWhoMisstatesUnitsJoinsNobody(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	const sets = 20
	for _, factor := range []float64{1, 100, .01} {
		together, pairs := 0.0, 0.0
		for set := range uint64(sets) {
			odd := l.peersOf(1, 20, wave(2, 1, 3), 7000+set)[0]
			odd.Scale /= factor
			for i := range odd.Values {
				odd.Values[i] *= factor
			}
			honest := l.clustered(20, set)
			b := l.considered(with(l.view(nil, bump(0)), append(honest, odd)...))
			for _, members := range groupsOf(l.strategy.compare(b.data, b.peers)[inCommonUnits]) {
				for _, i := range members {
					for _, j := range members {
						if i < j && j < len(honest) && i%len(clusters) != j%len(clusters) {
							together++
						}
					}
				}
			}
			pairs += float64(len(honest) * (len(honest) - len(honest)/len(clusters)) / 2)
		}
		t.Logf("values %g times too large: %.3f of the pairs that are unlike in one group", factor, together/pairs)
		if together > .05*pairs {
			t.Errorf("values %g times too large: %.3f of the pairs that are unlike come to one group", factor, together/pairs)
		}
	}
}

// Who is like whom depends on whether levels and sizes count: here four have one shape and two
// another, and two of the four another level and size than the other two.
func TestEachViewHasGroupsOfItsOwn(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	far := func(x []float64) float64 { return 500 + 30*clusters[0](x) }
	var means []protocol.Mean
	for k, f := range []func([]float64) float64{clusters[0], clusters[0], far, far, clusters[1], clusters[1]} {
		means = append(means, l.peersOf(1, 20, f, uint64(k))...)
	}
	b := l.considered(with(l.view(l.designs(6, random.SeedOf(9)), clusters[0]), means...))
	pairs := l.strategy.compare(b.data, b.peers)
	everybody := agree(pairs[inOwnUnits]).everybody
	for view, members := range map[int]int{inOwnUnits: 4, inCommonUnits: 2} {
		ways := read(b.peers, view, groupsOf(pairs[view]), everybody)
		group := ways[len(ways)-1].said
		if len(group) != members {
			t.Fatalf("the group of view %d has %d members, want %d", view, len(group), members)
		}
		want := l.strategy.newPeerPrior(b.data, group).weights
		if !slices.ContainsFunc(b.models, func(m model) bool { return slices.Equal(m.prior.weights, want) }) {
			t.Errorf("no model is around the consensus of the group of view %d", view)
		}
	}
}

func correlation(a, b []float64) float64 {
	ma, va := moments(a)
	mb, vb := moments(b)
	sum := 0.0
	for i := range a {
		sum += (a[i] - ma) * (b[i] - mb) / float64(len(a))
	}
	return sum / math.Sqrt(va*vb)
}

func TestGroupsDivideThePeers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := uncorrelated(20)
		peers := comparedAtRandom(t, c)
		var all []int
		for _, g := range groupsOf(c.compare(peers)[inCommonUnits]) {
			if len(g) == 0 {
				t.Fatal("a group has no members")
			}
			all = append(all, g...)
		}
		slices.Sort(all)
		for i, k := range all {
			if i != k {
				t.Fatalf("the groups have the peers %v, not each of %d once", all, len(peers))
			}
		}
		if len(all) != len(peers) {
			t.Fatalf("the groups have %d of %d peers", len(all), len(peers))
		}
	})
}

func TestReadingsOfGroups(t *testing.T) {
	peer := func(nats float64) *listened {
		p := &listened{known: []float64{.5}, weight: []float64{1}}
		for view := range p.views {
			p.views[view] = sight{mean: []float64{1}, nats: nats, use: 1 / (1 + math.Exp(-nats)), sign: 1}
		}
		return p
	}
	peers := []*listened{peer(-1), peer(-1), peer(2), peer(2), peer(9)}
	odds := func(list []reading) float64 {
		sum := 0.0
		for _, r := range list {
			sum += r.odds
		}
		return sum
	}
	for name, c := range map[string]struct {
		groups    [][]int
		everybody float64
		group     float64 // odds of the group
	}{
		"all in one":          {[][]int{{0, 1, 2, 3, 4}}, 0, 0},
		"each by itself":      {[][]int{{0}, {1}, {2}, {3}, {4}}, 0, 0},
		"two groups":          {[][]int{{0, 1}, {2, 3}, {4}}, 0, groupOdds},
		"all alike":           {[][]int{{0, 1}, {2, 3}, {4}}, 1, 0},
		"as likely all alike": {[][]int{{0, 1}, {2, 3}, {4}}, .5, groupOdds / 2},
	} {
		list := read(peers, inOwnUnits, c.groups, c.everybody)
		if sum := odds(list); sum > 1+1e-12 {
			t.Errorf("%s: the odds sum to %g", name, sum)
		}
		everybody, group := 0, 0.0
		for _, r := range list {
			if len(r.said) == len(peers) {
				everybody++
				continue
			}
			group += r.odds
			if use := r.said[0].use; len(r.said) != 2 || math.Abs(use-peers[2].views[inOwnUnits].use) > 1e-12 {
				t.Errorf("%s: the group heard has %d members of use %g, not those that the own observations speak for", name, len(r.said), use)
			}
		}
		if everybody != 2 {
			t.Errorf("%s: %d readings are of all peers, want one with all alike and one by themselves", name, everybody)
		}
		if math.Abs(group-c.group) > 1e-12 {
			t.Errorf("%s: the group has the odds %g, want %g", name, group, c.group)
		}
	}
}

// What a way to take the peers costs does not depend on its odds, so that those without
// are left out: of each peer by itself, where all that tells peers apart is that they
// were picked, and of a group, where all are alike.
func TestWaysWithoutOddsAreLeftOut(t *testing.T) {
	var peers []*listened
	for i := range mostPeers {
		p := &listened{known: []float64{.5}, weight: []float64{1}}
		use := .001
		if i%2 == 0 {
			use = .999
		}
		for view := range p.views {
			p.views[view] = sight{mean: []float64{1}, use: use, sign: 1}
		}
		peers = append(peers, p)
	}
	for name, c := range map[string]struct {
		everybody float64
		members   []int
	}{
		"in groups": {0, []int{mostPeers, 2}},
		"all alike": {1, []int{mostPeers}},
	} {
		ways := read(peers, inOwnUnits, [][]int{{0, 1}, {2}}, c.everybody)
		var members []int
		for _, w := range ways {
			members = append(members, len(w.said))
			if w.odds < leastReading {
				t.Errorf("%s: a consensus is formed for odds of %g", name, w.odds)
			}
		}
		if !slices.Equal(members, c.members) {
			t.Errorf("%s: ways of %v members, want %v", name, members, c.members)
		}
	}
}
