package sums

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/strategy"
)

// TestFalseStatesUseUpNoRequests lets as many members as may collude report contributions to the last
// round. A member that was absent later still receives the sum that it missed.
func TestFalseStatesUseUpNoRequests(t *testing.T) {
	w := newWorld(t, 8, "")
	w.observe(4, w.all()...)
	w.tick(longest)
	for _, liar := range []int{3, 4} {
		w.members[liar].published = &State{Contributions: MaxRounds, Round: MaxRounds}
	}
	w.tick(5 * (MaxRounds/maxAsked + 1) * (maxTries + 1)) // beats for all requests
	w.crash(0)
	honest := slices.DeleteFunc(w.all(), func(i int) bool { return i == 0 || i == 3 || i == 4 })
	w.observe(4, honest...)
	w.tick(longest)
	known := len(w.members[1].exchange.totals)
	w.members[0].alive = true // without a new start: no member connects again
	w.tick(3 * longest)
	if got := len(w.members[0].exchange.totals); known != 2 || got != known {
		t.Errorf("got %d sums, expected %d", got, known)
	}
}

// forged returns a status of an empty round, made from the header of a deal.
func forged(w *world, round int) []byte {
	for _, m := range w.members {
		for _, deal := range m.deals {
			data := append([]byte{ofRound}, deal[:strategytest.DealRoundAt]...)
			data[1+strategytest.DealKindAt] = 2
			data = binary.BigEndian.AppendUint64(data, uint64(round))
			return append(data, 0, 0, 0) // flags, contributors, members
		}
	}
	return nil
}

// TestOneMemberUsesUpNoRounds sends one status of the next round whenever a round is over. No member
// follows.
func TestOneMemberUsesUpNoRounds(t *testing.T) {
	w := newWorld(t, 8, "")
	w.observe(4, w.all()...)
	w.tick(longest)
	const rounds = 10
	for n := range rounds {
		for i := range 7 {
			w.step(i, strategy.Direct{From: w.members[7].id, Data: forged(w, 2+n)})
		}
		w.queue.Drain()
		w.tick(longest)
	}
	next, _ := w.members[0].exchange.sum.Next()
	if next > 2+1 {
		t.Errorf("the next round is %d, although no member contributed to rounds 2 to %d", next, next-1)
	}
}

// TestFalseContributionsWasteFewBatches lets one member report a contribution to each round, and make
// none. Without it, there are too few contributors.
func TestFalseContributionsWasteFewBatches(t *testing.T) {
	w := newWorld(t, 6, ", min_contributors: 4")
	liar := w.members[5]
	liar.published = &State{Ready: true}
	for n := range 5 {
		w.observe(4, 0, 1, 2)
		w.tick(longest)
		liar.published = &State{Contributions: n + 1, Round: n + 1, Ready: true}
	}
	if m := w.members[0]; len(m.exchange.spent) == 0 || len(m.exchange.totals) == 0 && len(m.exchange.spent) > 2*w.every {
		t.Errorf("%d observations are spent without a sum, expected at most %d", len(m.exchange.spent), 2*w.every)
	}
}

// TestContributorSetsAttribute fits the mean vector of each member to sums of known contributors, one
// absent in turn. Batches of one member resemble each other, as those of an optimisation do. Every
// sum is over at least four honest members, and all rows have disjoint observations.
func TestContributorSetsAttribute(t *testing.T) {
	const members, rounds, every = 6, 60, 4
	random := rand.New(rand.NewPCG(1, 2))
	definition := newTask(t, members, "")
	s := histogram{definition.Space, members * trialsEach}
	rows, sums := mat.NewDense(rounds, members, nil), mat.NewDense(rounds, s.Numbers(), nil)
	for r := range rounds {
		for i := range members {
			if i == r%members {
				continue
			}
			rows.Set(r, i, 1)
			var x [][]float64
			for range every { // member i observes about design 20i
				design := designAt(definition.Space, i*20+random.IntN(8), s.Numbers())
				x = append(x, definition.Space.Encode(design))
			}
			for k, v := range vectorOf(s, x, make([]float64, every)) {
				sums.Set(r, k, sums.At(r, k)+float64(v)*step)
			}
		}
	}
	var means mat.Dense
	if err := means.Solve(rows, sums); err != nil {
		t.Fatal(err)
	}
	for i := range members {
		own := 0.0
		for k := range 8 {
			own += means.At(i, i*20+k)
		}
		t.Logf("member %d: %.2f of %d observations attributed to it are its own", i, own, every)
		if own < 0.9*every {
			t.Errorf("member %d: %.2f of %d observations attributed to it, expected almost all", i, own, every)
		}
	}
}

// TestNoVoteBeforeReports lets a member receive all messages of a round before a peer has sent the
// shares that it stores. The journal of the member could be an old copy without its vote.
func TestNoVoteBeforeReports(t *testing.T) {
	w := newWorld(t, 8, "")
	w.observe(4, w.all()...)
	w.tick(longest)
	for rest := w.all()[1:]; len(w.members[1].trials) < trialsEach; {
		clear(w.members[0].exchange.reported)
		before := len(w.members[0].journal)
		w.observe(4, rest...)
		w.tick(longest)
		if n := len(w.members[0].journal); n > before && w.members[0].journal[before][0] == ofSecureSum {
			t.Fatal("a record of a round, expected none before a peer has reported")
		}
	}
	if len(w.members[1].exchange.totals) < 3 {
		t.Errorf("%d sums, expected at least 3 without this member", len(w.members[1].exchange.totals))
	}
}

// TestDoubtEndsWithASum lets a member crash in a round, which then fails. The others rely on it again
// after a while, although the sum needs all of them, and a sum ends the doubt.
func TestDoubtEndsWithASum(t *testing.T) {
	w := newWorld(t, 5, ", min_contributors: 5")
	w.members[4].published = &State{Ready: true}
	w.observe(4, 0, 1, 2, 3)
	w.tick(longest)
	e := w.members[0].exchange
	d := e.doubted[w.members[4].id]
	if len(e.spent) != 4 || d.times != 1 {
		t.Fatalf("%d observations spent, doubt %+v, expected 4 and one failed round", len(e.spent), d)
	}
	w.observe(4, w.all()...)
	w.tick(5 * (d.until - e.beats - 1))
	if len(e.spent) != 4 {
		t.Errorf("%d observations spent during the doubt, expected 4", len(e.spent))
	}
	w.tick(2 * longest)
	if len(e.totals) != 1 || len(e.doubted) > 0 {
		t.Errorf("%d sums, doubts %v, expected one sum and no doubt", len(e.totals), e.doubted)
	}
	w.summed("doubt")
}

// TestMutualDoubtsEnd lets members doubt each other for different times, as after a fault. Members that
// doubt too many are not ready, so that no other member relies on them, and no further doubt begins.
func TestMutualDoubtsEnd(t *testing.T) {
	w := newWorld(t, 5, ", min_contributors: 4")
	for i, m := range w.members {
		for _, other := range []int{1, 2} {
			m.exchange.doubted[w.members[(i+other)%5].id] = doubt{times: 1, until: 15 + 10*i}
		}
	}
	w.observe(4, w.all()...)
	if w.tick(5 * 40); len(w.members[0].exchange.spent) != 0 {
		t.Errorf("%d observations spent while members cannot rely on others, expected none", len(w.members[0].exchange.spent))
	}
	w.tick(5*20 + longest)
	for i, m := range w.members {
		if e := m.exchange; len(e.totals) != 1 || e.result.Failed != 0 {
			t.Errorf("member %d: %d sums, %d rounds failed, doubts %v; expected one sum and no failure", i, len(e.totals), e.result.Failed, e.doubted)
		}
	}
	w.summed("mutual doubts")
}

// TestRefusedMemberIsNotReady checks the State of a member that refuses to contribute: not ready, and
// with the counts that peers have stored.
func TestRefusedMemberIsNotReady(t *testing.T) {
	w := newWorld(t, 5, "")
	w.observe(4, 0)
	if s := w.members[0].published; s == nil || !s.Ready {
		t.Fatalf("published %v, expected a ready member", s)
	}
	w.step(0, strategy.EquivocationFound{})
	w.queue.Drain()
	if s := w.members[0].published; *s != (State{}) {
		t.Errorf("published %+v after a refusal, expected a member that is not ready", *s)
	}
	w = newWorld(t, 5, "", 0)
	w.members[0].published = &State{Contributions: 3, Round: 5, Ready: true}
	w.boot(0)
	if s := w.members[0].published; *s != (State{Contributions: 3, Round: 5}) {
		t.Errorf("published %+v with an old journal, expected the stored counts of a member that is not ready", *s)
	}
	if ready := w.members[1].exchange.ready(w.view(w.members[1]), w.members[1].exchange.present(w.view(w.members[1])), 6); len(ready) > 0 {
		t.Errorf("%d members count as ready, expected 0", len(ready))
	}
}
