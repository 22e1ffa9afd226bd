package consensus

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
)

const tolerance = 1e-12

// checkDoublyStochastic fails unless the matrix is symmetric, with rows that sum
// to 1 and no negative entry.
func checkDoublyStochastic(t rapid.TB, matrix [][]float64) {
	t.Helper()
	for i, row := range matrix {
		sum := 0.0
		for j, w := range row {
			sum += w
			if w < -tolerance {
				t.Fatalf("entry %d, %d is %g", i, j, w)
			}
			if math.Abs(w-matrix[j][i]) > tolerance {
				t.Fatalf("entries %d, %d are %g and %g", i, j, w, matrix[j][i])
			}
		}
		if math.Abs(sum-1) > tolerance {
			t.Fatalf("row %d sums to %g", i, sum)
		}
	}
}

func matrixOf(agents int, row func(self int) []float64) [][]float64 {
	var matrix [][]float64
	for self := range agents {
		matrix = append(matrix, row(self))
	}
	return matrix
}

func TestUniformAndLeaderAreDoublyStochastic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agents := rapid.IntRange(1, 12).Draw(t, "agents")
		T := rapid.IntRange(1, 60).Draw(t, "T")
		round := rapid.IntRange(1, T+3).Draw(t, "round")
		leader := rapid.IntRange(0, agents-1).Draw(t, "leader")
		checkDoublyStochastic(t, matrixOf(agents, func(self int) []float64 { return uniformRow(agents, self, round, T) }))
		checkDoublyStochastic(t, matrixOf(agents, func(self int) []float64 { return leaderRow(agents, self, leader, round, T) }))
	})
}

func TestWeightsStartEqualAndEndAlone(t *testing.T) {
	for _, agents := range []int{1, 2, 5, 20} {
		first, last := uniformRow(agents, 0, 1, 40), uniformRow(agents, 0, 41, 40)
		for j := range agents {
			if math.Abs(first[j]-1/float64(agents)) > tolerance {
				t.Errorf("%d agents: the first round weighs %v", agents, first)
			}
			alone := 0.0
			if j == 0 {
				alone = 1
			}
			if last[j] != alone {
				t.Errorf("%d agents: after the last round weighs %v", agents, last)
			}
		}
	}
}

// Equation 6 as it is printed, K = 5 and T = 40.
func TestUniformIsEquation6(t *testing.T) {
	const K, T = 5.0, 40.0
	for round := 1; round <= 40; round++ {
		own, other := 1/K+float64(round-1)*(K-1)/(T*K), (T-float64(round)+1)/(T*K)
		for j, w := range uniformRow(5, 2, round, 40) {
			want := other
			if j == 2 {
				want = own
			}
			if math.Abs(w-want) > tolerance {
				t.Fatalf("round %d: weight %d is %g, want %g", round, j, w, want)
			}
		}
	}
}

// By hand, with T = 4. For K = 3 the leader's own weight in round t is
// 1/3 + (t-1)/6, the threshold 4/12: in round 1 both branches agree. For K = 4 it is
// (4 + 3(t-1))/16, the threshold 9/16: the second branch until round 2.
func TestLeaderByHand(t *testing.T) {
	for _, c := range []struct {
		agents, round int
		leader, self  []float64 // rows of agents 0 (the leader) and 1
	}{
		{3, 1, []float64{0, 0.5, 0.5}, []float64{0.5, 0.25, 0.25}},
		{3, 2, []float64{0.5 - 4.0/12, 0.25 + 2.0/12, 0.25 + 2.0/12}, []float64{0.25 + 2.0/12, 0.5 - 1.0/12, 0.25 - 1.0/12}},
		{4, 1, []float64{0, 1.0 / 3, 1.0 / 3, 1.0 / 3}, []float64{1.0 / 3, 2.0 / 9, 2.0 / 9, 2.0 / 9}},
		{4, 2, []float64{0, 1.0 / 3, 1.0 / 3, 1.0 / 3}, []float64{1.0 / 3, 2.0 / 9, 2.0 / 9, 2.0 / 9}},
		{4, 3, []float64{1.0 / 16, 5.0 / 16, 5.0 / 16, 5.0 / 16}, []float64{5.0 / 16, 9.0 / 16, 1.0 / 16, 1.0 / 16}},
	} {
		for name, rows := range map[string][2][]float64{
			"leader": {leaderRow(c.agents, 0, 0, c.round, 4), c.leader},
			"other":  {leaderRow(c.agents, 1, 0, c.round, 4), c.self},
		} {
			for j := range c.agents {
				if math.Abs(rows[0][j]-rows[1][j]) > tolerance {
					t.Errorf("%d agents, round %d, %s: %v, want %v", c.agents, c.round, name, rows[0], rows[1])
				}
			}
		}
	}
}

func TestMetropolisIsDoublyStochasticOnAnyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agents := rapid.IntRange(1, 10).Draw(t, "agents")
		T := rapid.IntRange(1, 20).Draw(t, "T")
		round := rapid.IntRange(1, T+2).Draw(t, "round")
		edges := make([][]bool, agents)
		for i := range edges {
			edges[i] = make([]bool, agents)
		}
		degrees := make([]int, agents)
		for i := range agents {
			for j := range i {
				if rapid.Bool().Draw(t, fmt.Sprintf("edge %d-%d", i, j)) {
					edges[i][j], edges[j][i] = true, true
					degrees[i]++
					degrees[j]++
				}
			}
		}
		checkDoublyStochastic(t, matrixOf(agents, func(self int) []float64 {
			var near, theirs []int
			for j, edge := range edges[self] {
				if edge {
					near, theirs = append(near, j), append(theirs, degrees[j])
				}
			}
			others, own := metropolisRow(degrees[self], theirs, round, T)
			row := make([]float64, agents)
			row[self] = own
			for i, j := range near {
				row[j] = others[i]
			}
			return row
		}))
	})
}

// Nobody can take more than an equal share by what it claims.
func TestMetropolisClaims(t *testing.T) {
	others, own := metropolisRow(0, []int{0, 0, 1 << 20}, 1, 10)
	if others[0] > 0.25 || others[2] > 1e-5 || own < 0.25 {
		t.Errorf("weights %v, own %g", others, own)
	}
}

// members returns peers in order of ID.
func members(count int) []peer.ID {
	var ids []peer.ID
	for i := range count {
		ids = append(ids, peer.ID(fmt.Sprintf("member %02d", i)))
	}
	return ids
}

// Whatever candidates an agent lacks, its weights are at least 0 and leave a
// weight for its own; where all lack the same or each other's, the matrix is
// doubly stochastic.
func TestMissingCandidatesCountForTheOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := members(rapid.IntRange(2, 8).Draw(t, "agents"))
		settings := Settings{Weights: "uniform", Rounds: 10}
		round := rapid.IntRange(1, 10).Draw(t, "round")
		cut := map[[2]int]bool{}
		for i := range all {
			for j := range i {
				if rapid.Bool().Draw(t, fmt.Sprintf("cut %d-%d", i, j)) {
					cut[[2]int{i, j}], cut[[2]int{j, i}] = true, true
				}
			}
		}
		checkDoublyStochastic(t, matrixOf(len(all), func(self int) []float64 {
			c := averager{self: all[self], present: all, t: round, settings: settings}
			for j, id := range all {
				if j != self && !cut[[2]int{self, j}] {
					c.candidates = append(c.candidates, PeerCandidate{Peer: id, Candidate: protocol.Candidate{Round: round}})
				}
			}
			row := make([]float64, len(all))
			row[self] = 1
			for i, w := range c.weights() {
				row[slices.Index(all, c.candidates[i].Peer)] = w
				row[self] -= w
			}
			return row
		}))
	})
}

func TestAgeLowersTheWeight(t *testing.T) {
	all := members(2)
	c := averager{self: all[0], present: all, t: 1, settings: Settings{Weights: "uniform", Rounds: 10}, candidates: []PeerCandidate{{Peer: all[1]}}}
	fresh := c.weights()[0]
	c.candidates[0].Age = 4
	if old := c.weights()[0]; fresh != 0.5 || old != 0.1 {
		t.Errorf("weights %g and, 4 rounds later, %g", fresh, old)
	}
}

func TestTheLeaderHasTheBestResponse(t *testing.T) {
	all := members(3)
	number := func(v float64) *float64 { return &v }
	for name, c := range map[string]struct {
		responses [3]*float64
		want      int
	}{
		"the largest":      {[3]*float64{number(1), number(3), number(2)}, 1},
		"the agent itself": {[3]*float64{number(4), number(3), number(2)}, 0},
		"the first of two": {[3]*float64{number(1), number(3), number(3)}, 1},
		"all equal":        {[3]*float64{number(1), number(1), number(1)}, 0},
	} {
		for self := range all {
			council := averager{self: all[self], own: protocol.Candidate{Response: c.responses[self]}}
			for j := range all {
				if j != self {
					council.candidates = append(council.candidates, PeerCandidate{Peer: all[j], Candidate: protocol.Candidate{Response: c.responses[j]}})
				}
			}
			if got := council.leader(); got != all[c.want] {
				t.Errorf("%s: agent %d follows %s", name, self, got)
			}
		}
	}
}

// Whoever leads, for as long as it wishes and by whatever claim, weighs with each
// other agent no more than an equal share among those others.
func TestALeaderCannotDominate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agents := rapid.IntRange(2, 12).Draw(t, "agents")
		T := rapid.IntRange(1, 60).Draw(t, "T")
		round := rapid.IntRange(1, T).Draw(t, "round")
		weight := leaderRow(agents, 0, agents-1, round, T)[agents-1]
		want := min(float64(T-round+agents)/float64(T*agents), 1/float64(agents-1))
		if math.Abs(weight-want) > tolerance {
			t.Fatalf("the leader weighs %g, want %g", weight, want)
		}
	})
}

// With objectives of different optima no fixed weights but the identity end
// where each agent's optimum is: why the weights decay.
func TestFixedWeightsMissTheOptimum(t *testing.T) {
	optima := []float64{0.1, 0.4, 0.9}
	for self, optimum := range optima {
		shared, alone := 0.0, 0.0
		for j := range optima {
			shared += uniformRow(3, self, 5, 10)[j] * optima[j]
			alone += uniformRow(3, self, 11, 10)[j] * optima[j]
		}
		if math.Abs(shared-optimum) < 0.01 || alone != optimum {
			t.Errorf("agent %d ends at %g and, alone, at %g; its optimum is %g", self, shared, alone, optimum)
		}
	}
}
