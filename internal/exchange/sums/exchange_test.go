package sums

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/strategy"
)

// TestSumsHoldDisjointObservations checks the sums of five and of eight members without failures:
// every observation is in exactly one sum, and all members know all sums.
func TestSumsHoldDisjointObservations(t *testing.T) {
	for _, members := range []int{5, 8} {
		w := newWorld(t, members, "")
		for range 3 {
			w.observe(4, w.all()...)
			w.tick(longest)
		}
		contents := w.summed(fmt.Sprint(members))
		count := 0
		for _, of := range contents {
			count += len(of)
		}
		if count != 12*members {
			t.Errorf("%d members: %d observations in sums, expected %d", members, count, 12*members)
		}
		for _, m := range w.members {
			if len(m.result.Sums) != len(contents) || m.result.Failed > 0 || len(m.warnings) > 0 {
				t.Errorf("%d members: member %d knows %d sums of %d, %d failed: %s, warnings %q", members, m.index, len(m.result.Sums), len(contents), m.result.Failed, m.result.Reason, m.warnings)
			}
		}
	}
}

// TestJoinerContributesAsManyAsOthers checks that a member with many observations contributes one
// batch per round, and receives the sums of rounds before it joined.
func TestJoinerContributesAsManyAsOthers(t *testing.T) {
	w := newWorld(t, 5, "", 0)
	for range 2 {
		w.observe(4, 1, 2, 3, 4)
		w.tick(longest)
	}
	before := len(w.members[1].result.Sums)
	w.observe(20, 0)
	w.boot(0)
	w.tick(longest)
	if m := w.members[0]; before != 2 || len(m.result.Sums) != before {
		t.Fatalf("the joiner has %d sums of %d", len(m.result.Sums), before)
	}
	for range 3 {
		w.observe(4, 1, 2, 3, 4)
		w.tick(longest)
	}
	contents := w.summed("joiner")
	own := 0
	for _, of := range contents {
		for _, i := range of {
			if i/trialsEach == 0 {
				own++
			}
		}
	}
	if own != 12 {
		t.Errorf("%d observations of the joiner in sums, expected 12: 4 in each of 3 rounds", own)
	}
}

// TestNoRoundBeginsWithTooFewReady checks that nothing is dealt while fewer members than a sum needs
// are present with enough observations.
func TestNoRoundBeginsWithTooFewReady(t *testing.T) {
	w := newWorld(t, 5, "")
	w.observe(8, 0, 1, 2)
	w.observe(3, 3, 4)
	w.tick(longest)
	w.crash(3)
	w.crash(4)
	w.observe(1, 0, 1, 2)
	w.tick(longest)
	for _, m := range w.members {
		if len(m.deals) > 0 || m.result.Failed > 0 {
			t.Errorf("member %d dealt %d times, %d rounds failed", m.index, len(m.deals), m.result.Failed)
		}
	}
	w.boot(3)
	w.boot(4)
	w.observe(1, 3)
	w.tick(longest)
	if contents := w.summed("later"); len(contents) != 1 {
		t.Errorf("%d sums, expected 1 of the four that are ready", len(contents))
	}
}

// TestKillsInEachPhase crashes a member after each number of outputs, so in each phase of a round,
// with and without a later restart. Every observation stays in at most one sum, and a crash of one
// member does not keep the others from their sums.
func TestKillsInEachPhase(t *testing.T) {
	stride := 5
	if testing.Short() {
		stride = 40
	}
	for _, pause := range []int{-1, 0, 3} { // ticks until the restart; negative: none
		places := 0
		for fuse := 0; ; fuse += stride {
			w := newWorld(t, 6, ", min_contributors: 4")
			m := w.members[0]
			m.fuse = strategytest.Fuse(fuse)
			down := 0
			for tick := range 3*longest + 20 {
				if tick%longest == 0 {
					w.observe(4, w.all()...)
				}
				w.tick(1)
				if !m.alive {
					if down++; pause >= 0 && down > pause {
						w.boot(0)
						down = 0
					}
				}
			}
			name := fmt.Sprintf("pause %d, crash after %d outputs", pause, fuse)
			contents := w.summed(name)
			if len(contents) < 3 {
				t.Errorf("%s: %d sums, expected 3 or more; member 1: %+v", name, len(contents), w.members[1].result.Reason)
			}
			if m.runs == 1 && m.alive {
				break
			}
			places++
			if pause >= 0 {
				w.tick(2 * longest) // requests for missed sums
				for round := range contents {
					if _, known := m.exchange.totals[round]; !known {
						t.Errorf("%s: the member lacks the sum of round %d", name, round)
					}
				}
			}
			if t.Failed() {
				return
			}
		}
		if places*stride < 100 {
			t.Errorf("only %d places to crash at", places)
		}
	}
}

// TestTwoMembersAreAbsentInTurn lets another pair of eight members be absent in each phase.
func TestTwoMembersAreAbsentInTurn(t *testing.T) {
	for phase := range 12 {
		w := newWorld(t, 8, "")
		w.observe(4, w.all()...)
		w.tick(phase)
		w.crash(phase % 8)
		w.crash((phase + 3) % 8)
		w.tick(longest)
		w.observe(4, w.all()...)
		w.tick(longest)
		w.boot(phase % 8)
		w.tick(longest)
		if contents := w.summed(fmt.Sprintf("phase %d", phase)); len(contents) < 2 {
			t.Errorf("phase %d: %d sums, expected 2 or more", phase, len(contents))
		}
	}
}

// TestOldJournalContributesNothing restores each prefix of a journal. A member whose journal lacks a
// contribution refuses, also after another restart.
func TestOldJournalContributesNothing(t *testing.T) {
	reference := newWorld(t, 5, "")
	for range 3 {
		reference.observe(4, reference.all()...)
		reference.tick(longest)
	}
	length := len(reference.members[0].journal)
	for keep := range length + 1 {
		w := newWorld(t, 5, "")
		for range 3 {
			w.observe(4, w.all()...)
			w.tick(longest)
		}
		m := w.members[0]
		w.crash(0)
		deals := len(m.deals)
		m.journal = slices.Clone(m.journal[:keep])
		spent := len(m.journalled(t)) / 4
		m.published = &State{Contributions: 3, Round: 3}
		for range 2 {
			w.boot(0)
			w.observe(4, w.all()...)
			w.tick(longest)
			w.crash(0)
		}
		w.summed(fmt.Sprintf("%d records", keep))
		if refused := m.exchange.refused != ""; refused != (spent < 3) {
			t.Errorf("%d records with %d contributions: refused is %t", keep, spent, refused)
		}
		if spent < 3 && (len(m.deals) != deals || !strings.Contains(strings.Join(m.warnings, " "), "peers hold contribution 3")) {
			t.Errorf("%d records: %d deals after %d, warnings %q", keep, len(m.deals), deals, m.warnings)
		}
	}
}

// TestUnaccountedJournalContributesNothing checks the reasons for which a node refuses at its start
// or later.
func TestUnaccountedJournalContributesNothing(t *testing.T) {
	for name, corrupt := range map[string]func(w *world){
		"unreadable record": func(w *world) { w.members[0].journal = [][]byte{[]byte("d{}")} },
		"unknown record":    func(w *world) { w.members[0].journal = [][]byte{[]byte("x")} },
		"empty record":      func(w *world) { w.members[0].journal = [][]byte{{}} },
		"refusal":           func(w *world) { w.members[0].journal = [][]byte{[]byte(`r{"reason":"why"}`)} },
	} {
		w := newWorld(t, 5, "", 0)
		corrupt(w)
		w.boot(0)
		w.observe(4, w.all()...)
		w.tick(longest)
		m := w.members[0]
		if len(m.deals) > 0 || m.result.Refused == "" || len(m.warnings) != 1 {
			t.Errorf("%s: %d deals, refused %q, warnings %q", name, len(m.deals), m.result.Refused, m.warnings)
		}
		w.tick(longest)
		if len(m.result.Sums) != 1 {
			t.Errorf("%s: %d sums received, expected 1", name, len(m.result.Sums))
		}
	}
	w := newWorld(t, 5, "")
	w.step(0, strategy.EquivocationFound{})
	w.observe(4, w.all()...)
	w.tick(longest)
	if m := w.members[0]; len(m.deals) > 0 || m.result.Refused == "" {
		t.Errorf("after an equivocation: %d deals", len(m.deals))
	}
}

// TestFalseEarlierSumsDoNotCount lets as many members as may collude answer requests with false
// sums. The receiver takes the sum of the others.
func TestFalseEarlierSumsDoNotCount(t *testing.T) {
	w := newWorld(t, 8, "", 0)
	w.observe(4, w.all()[1:]...)
	w.tick(longest)
	for _, liar := range []int{1, 2} { // which answer first
		e := w.members[liar].exchange
		for round, sum := range e.totals {
			sum.Vector = slices.Repeat([]int64{5}, len(sum.Vector))
			e.totals[round] = sum
		}
	}
	w.boot(0)
	w.tick(3 * longest)
	m, truth := w.members[0], w.members[3].exchange.totals
	for round, sum := range truth {
		if !slices.Equal(m.exchange.totals[round].Vector, sum.Vector) {
			t.Errorf("round %d: got another sum, or none", round)
		}
	}
	if len(truth) == 0 {
		t.Error("no sums")
	}
}

// TestNoCombinationIsolatesFewerThanThreeMembers tests the claim about secrecy on the sums of runs
// with crashes, absences and a joiner. Each released sum is a row over all observations. Any
// colluding members within the limit remove their own observations. A linear combination has its
// support within the observations of two further members if and only if the rank of the rows falls
// when these observations are left out.
func TestNoCombinationIsolatesFewerThanThreeMembers(t *testing.T) {
	w := newWorld(t, 8, "", 7)
	for round := range 5 {
		w.observe(4, w.all()...)
		w.tick(3 * round)
		if round < 4 {
			w.crash(round)
		}
		w.tick(longest)
		if round < 4 {
			w.boot(round)
		}
		if round == 2 {
			w.boot(7)
		}
		w.tick(longest)
	}
	contents := w.summed("rank")
	settings, _ := SettingsOf(w.task)
	if len(contents) < 5 || settings.MaxColluding != 2 {
		t.Fatalf("%d sums with %d colluding members", len(contents), settings.MaxColluding)
	}
	rank := func(without ...int) int {
		var rows []float64
		columns := 8 * trialsEach
		for _, of := range contents {
			row := make([]float64, columns)
			for _, i := range of {
				if !slices.Contains(without, i/trialsEach) {
					row[i] = 1
				}
			}
			rows = append(rows, row...)
		}
		var s mat.SVD
		if !s.Factorize(mat.NewDense(len(contents), columns, rows), mat.SVDNone) {
			t.Fatal("no singular values")
		}
		return s.Rank(1e-9)
	}
	// The observations of two colluding and of two other members are left out.
	for a := range 8 {
		for b := range a {
			for c := range b {
				for d := range c {
					if got := rank(a, b, c, d); got != len(contents) {
						t.Errorf("without members %d, %d, %d and %d: rank %d of %d sums", a, b, c, d, got, len(contents))
					}
				}
			}
		}
	}
	// The test can fail: a sum that lacks three further members has a combination for two.
	for round, of := range contents {
		contents[round] = slices.DeleteFunc(slices.Clone(of), func(i int) bool { return i/trialsEach > 3 })
		break
	}
	if rank(0, 1, 2, 3) == len(contents) {
		t.Error("the rank does not show a sum of four members")
	}
}
