package consensus

import (
	"math"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
)

// By hand; weights need not sum to 1.
func TestMedianAndTrimmedMeanByHand(t *testing.T) {
	for _, c := range []struct {
		ballots         []weightedValue
		median, trimmed float64
	}{
		{[]weightedValue{{3, 0.1}}, 3, 3},
		{[]weightedValue{{1, 0.2}, {2, 0.2}}, 1.5, 1.5},
		{[]weightedValue{{1, 0.2}, {2, 0.2}, {9, 0.2}}, 2, (0.25*1 + 2 + 0.25*9) / 1.5},
		{[]weightedValue{{0, 1}, {1, 1}, {4, 1}, {100, 1}}, 2.5, 2.5},
		{[]weightedValue{{-50, 1}, {1, 1}, {2, 1}, {4, 1}, {100, 1}}, 2, (0.75*1 + 2 + 0.75*4) / 2.5},
		{[]weightedValue{{1, 0.1}, {2, 0.1}, {3, 0.3}}, 3, (0.075*2 + 0.175*3) / 0.25},
		{[]weightedValue{{1, 0.3}, {5, 0.1}, {6, 0.2}}, 3, (0.15*1 + 0.1*5 + 0.05*6) / 0.3},
	} {
		if got := median(c.ballots); math.Abs(got-c.median) > tolerance {
			t.Errorf("median of %v is %g, want %g", c.ballots, got, c.median)
		}
		if got := trimmedMean(c.ballots, trimming); math.Abs(got-c.trimmed) > tolerance {
			t.Errorf("trimmed mean of %v is %g, want %g", c.ballots, got, c.trimmed)
		}
	}
}

// at is a candidate of the space of newTask.
func at(x, n float64, choice int) protocol.Candidate {
	return protocol.Candidate{Round: 1, VisiblePeers: 1, Point: protocol.Point{Coordinates: []float64{x, n}, Choices: []int{choice}}}
}

// drawnCouncil is of so many agents, of which the last ones lie; the own candidate is
// honest.
func drawnCouncil(t *rapid.T, average, weights string, agents, liars int) (c averager, low, high float64) {
	all := members(agents)
	draw := func(name string, from, to float64) float64 { return rapid.Float64Range(from, to).Draw(t, name) }
	low = draw("low", 0, 0.9)
	high = draw("high", low, 1)
	c = averager{self: all[0], own: at(draw("own", low, high), 0.05, 0), present: all, t: rapid.IntRange(1, 10).Draw(t, "round"),
		settings: Settings{Weights: weights, Average: average, Rounds: 10}}
	c.own.VisiblePeers = agents - 1
	for i, id := range all[1:] {
		candidate := at(draw("honest", low, high), 0.05, 0)
		if i+1 >= agents-liars {
			candidate = at(draw("lie", 0, 1), 0.95, 1)
		}
		candidate.VisiblePeers = agents - 1
		c.candidates = append(c.candidates, PeerCandidate{Peer: id, Candidate: candidate})
	}
	return c, low, high
}

// While less than half of the agents lie, and less than a quarter for a trimmed mean, all
// numbers stay where honest agents have theirs, whatever the liars say. The mean does not.
func TestLiarsDoNotLeadAway(t *testing.T) {
	space := newTask(t, "").Space
	for average, most := range map[string]func(agents int) int{
		averageMedian:  func(agents int) int { return (agents - 1) / 2 },
		averageTrimmed: func(agents int) int { return (agents - 1) / 4 },
	} {
		for _, weights := range []string{weightsUniform, weightsMetropolis} {
			rapid.Check(t, func(t *rapid.T) {
				agents := rapid.IntRange(2, 12).Draw(t, "agents")
				c, low, high := drawnCouncil(t, average, weights, agents, rapid.IntRange(0, most(agents)).Draw(t, "liars"))
				x := c.average(space)
				if x[0] < low-tolerance || x[0] > high+tolerance || math.Abs(x[1]-0.05) > tolerance {
					t.Fatalf("%s, %s: %v is not between %g and %g, and 0.05", average, weights, x, low, high)
				}
			})
		}
	}
	c := averager{own: at(0.2, 0.05, 0), self: members(5)[0], present: members(5), t: 1, settings: Settings{Weights: weightsUniform, Rounds: 10}}
	for _, id := range members(5)[1:4] {
		c.candidates = append(c.candidates, PeerCandidate{Peer: id, Candidate: at(0.2, 0.05, 0)})
	}
	c.candidates = append(c.candidates, PeerCandidate{Peer: members(5)[4], Candidate: at(1, 0.95, 1)})
	if x := c.average(space)[0]; math.Abs(x-0.36) > tolerance {
		t.Errorf("the mean with a liar is %g, want 0.36", x)
	}
}

// What symmetric candidates have in the middle is their mean, so that all averages are the
// same, at every round, whatever the weights.
func TestAveragesOfSymmetricCandidatesAgree(t *testing.T) {
	space := newTask(t, "").Space
	for _, weights := range []string{weightsUniform, weightsMetropolis} {
		for round := 1; round <= 11; round++ {
			c := averager{own: at(0.5, 0.05, 0), self: members(5)[2], present: members(5), t: round, settings: Settings{Weights: weights, Rounds: 10}}
			for i, x := range []float64{0.1, 0.3, 0.7, 0.9} {
				id := []peer.ID{members(5)[0], members(5)[1], members(5)[3], members(5)[4]}[i]
				candidate := at(x, 0.05, 1)
				candidate.VisiblePeers = 4
				c.candidates = append(c.candidates, PeerCandidate{Peer: id, Candidate: candidate})
			}
			c.own.VisiblePeers = 4
			want := c.average(space)
			for _, average := range []string{averageMedian, averageTrimmed} {
				c.settings.Average = average
				for i, v := range c.average(space) {
					if math.Abs(v-want[i]) > tolerance {
						t.Errorf("round %d, %s, %s: %g at %d, with the mean %g", round, weights, average, v, i, want[i])
					}
				}
			}
		}
	}
}

// A category is put to the vote with every average, and after the last round, when nothing
// is shared, all is the own candidate's.
func TestRobustVotesAndEnds(t *testing.T) {
	definition := newTask(t, "")
	for _, average := range []string{averageMedian, averageTrimmed} {
		c := averager{own: at(0.2, 0.05, 0), self: members(4)[0], present: members(4), t: 1, settings: Settings{Weights: weightsUniform, Average: average, Rounds: 4}}
		for i, choice := range []int{2, 1, 2} {
			c.candidates = append(c.candidates, PeerCandidate{Peer: members(4)[i+1], Candidate: at(0.8, 0.95, choice)})
		}
		if design := definition.Space.Decode(c.average(definition.Space)); design.Choice("kind") != "c" {
			t.Errorf("%s: the vote ends with %v", average, design)
		}
		c.t = 5
		if x := c.average(definition.Space); !slices.Equal(x, c.own.Point.Encoded(definition.Space)) {
			t.Errorf("%s: after the last round %v, want the own candidate", average, x)
		}
	}
}

// An old candidate has less of the middle, and lets the own one have more of the rest.
func TestAgeLowersTheWeightInTheMiddle(t *testing.T) {
	space := newTask(t, "").Space
	c := averager{own: at(0, 0.05, 0), self: members(2)[0], present: members(2), t: 1,
		settings: Settings{Weights: weightsUniform, Average: averageMedian, Rounds: 10}, candidates: []PeerCandidate{{Peer: members(2)[1], Candidate: at(1, 0.05, 0)}}}
	fresh := c.average(space)[0]
	c.candidates[0].Age = 4
	if old := c.average(space)[0]; math.Abs(fresh-0.5) > tolerance || math.Abs(old-0.1) > tolerance {
		t.Errorf("%g and, 4 rounds later, %g; want 0.5 and 0.1", fresh, old)
	}
}
