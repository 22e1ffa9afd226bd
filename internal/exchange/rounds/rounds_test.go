package rounds

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"
)

func roster(n int) []peer.ID {
	ids := make([]peer.ID, n)
	for i := range ids {
		ids[i] = peer.ID(fmt.Sprintf("peer %04d", i))
	}
	return ids
}

// said is whom the agent has heard in a round.
func said(ids ...peer.ID) func(peer.ID) bool {
	return func(id peer.ID) bool { return slices.Contains(ids, id) }
}

func TestARoundWaitsForThoseWhoHaveNotSpoken(t *testing.T) {
	var b Barrier
	all := roster(4)
	if b.Number() != 0 || b.IsOpen() || b.Late() || len(b.Waits(all, said())) > 0 || len(b.Close(all, said())) > 0 {
		t.Errorf("before the first round: %+v", b)
	}
	b.Open(1)
	if b.Number() != 1 || !b.IsOpen() || b.Late() {
		t.Errorf("after it has begun: %+v", b)
	}
	expected := []peer.ID{all[3], all[0], all[2]}
	if waits := b.Waits(expected, said(all[0])); !slices.Equal(waits, []peer.ID{all[3], all[2]}) {
		t.Errorf("waits for %v", waits)
	}
	if !slices.Equal(expected, []peer.ID{all[3], all[0], all[2]}) {
		t.Errorf("the expected have become %v", expected)
	}
	if waits := b.Waits(expected, said(all...)); len(waits) > 0 {
		t.Errorf("all have spoken, and it waits for %v", waits)
	}
	b.Expire()
	if !b.Late() || !b.IsOpen() || len(b.Waits(expected, said())) > 0 {
		t.Errorf("after the deadline: %+v", b)
	}
	if missing := b.Close(expected, said(all[0])); !slices.Equal(missing, []peer.ID{all[3], all[2]}) {
		t.Errorf("missing are %v", missing)
	}
	if b.IsOpen() || b.Number() != 1 || len(b.Waits(expected, said())) > 0 || len(b.Close(expected, said())) > 0 {
		t.Errorf("after the end: %+v", b)
	}
	b.Open(2)
	if b.Late() {
		t.Error("a new round is late from its beginning")
	}
	b.Close(expected, said(all...))
	b.Expire() // a timer that was left over
	if b.Late() {
		t.Error("a round that has closed in time is late")
	}
}

// What ends before its deadline was not in vain, whoever is missing.
func TestNobodyIsBlamedBeforeTheDeadline(t *testing.T) {
	var b Barrier
	silent := roster(1)
	for round := 1; round <= 20; round++ {
		b.Open(round)
		if waits := b.Waits(silent, said()); len(waits) != 1 {
			t.Fatalf("round %d waits for %v", round, waits)
		}
		if round%2 > 0 { // others are left open
			if missing := b.Close(silent, said()); len(missing) != 1 {
				t.Fatalf("round %d misses %v", round, missing)
			}
		}
	}
}

// Of one who never speaks the round waits in rounds 1, 2, 4 and so on. Skipped rounds
// count as any.
func TestPatienceHalves(t *testing.T) {
	silent := roster(1)
	for _, c := range []struct {
		skip int
		want []int
	}{{1, []int{1, 2, 4, 8, 16, 32, 64}}, {5, []int{1, 6, 11, 16, 26, 46, 81}}} {
		var b Barrier
		var waited []int
		for round := 1; round <= 100; round += c.skip {
			b.Open(round)
			if len(b.Waits(silent, said())) > 0 {
				waited = append(waited, round)
			}
			b.Expire()
			b.Close(silent, said())
		}
		if !slices.Equal(waited, c.want) {
			t.Errorf("every %d. round: waited in %v, want %v", c.skip, waited, c.want)
		}
	}
}

func TestRoundNumbersMustGrow(t *testing.T) {
	for _, number := range []int{-1, 0, 2, 3} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("round %d opens after round 3", number)
				}
			}()
			var b Barrier
			b.Open(3)
			b.Open(number)
		}()
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var b Barrier
	for round, silent := range slices.Collect(slices.Chunk(roster(3*maxLapses), 1)) {
		b.Open(round + 1)
		b.Expire()
		if missing := b.Close(silent, said()); len(missing) != len(silent) {
			t.Fatalf("round %d misses %v of %v", round+1, missing, silent)
		}
		if len(b.lapses) > maxLapses {
			t.Fatalf("%d names are remembered", len(b.lapses))
		}
	}
}

// Whoever is expected and speaks when: a round waits for nobody after its deadline, waits
// in vain for nobody more than 1 + log2 T times in T rounds, and blames nobody who has
// spoken, so that it always waits for who has always spoken in time.
func TestWhatSilenceCosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Barrier
		all := roster(rapid.IntRange(1, 6).Draw(t, "peers"))
		some := func(label string) []peer.ID {
			return slices.DeleteFunc(slices.Clone(all[1:]), func(peer.ID) bool { return rapid.Bool().Draw(t, label) })
		}
		reliable := all[0]
		vain := map[peer.ID]int{}
		for range rapid.IntRange(1, 200).Draw(t, "rounds") {
			b.Open(b.Number() + rapid.SampledFrom([]int{1, 1, 1, 2, 30}).Draw(t, "step"))
			expected := append(some("expected"), reliable)
			if !slices.Contains(b.Waits(expected, said()), reliable) {
				t.Fatalf("round %d does not wait for who has always spoken", b.Number())
			}
			hasSent := said(append(some("silent"), reliable)...)
			waits := b.Waits(expected, hasSent)
			for _, id := range waits {
				if hasSent(id) || !slices.Contains(expected, id) {
					t.Fatalf("round %d waits for %s", b.Number(), id)
				}
			}
			late := rapid.Bool().Draw(t, "late")
			if late {
				b.Expire()
				if waits := b.Waits(expected, hasSent); len(waits) > 0 {
					t.Fatalf("round %d waits for %v after its deadline", b.Number(), waits)
				}
			}
			if missing := b.Close(expected, hasSent); !slices.Equal(missing, waits) {
				t.Fatalf("round %d misses %v and has waited for %v", b.Number(), missing, waits)
			}
			if len(b.lapses) > len(all) {
				t.Fatalf("%d names of %d are remembered", len(b.lapses), len(all))
			}
			if !late {
				continue
			}
			for _, id := range waits {
				if vain[id]++; vain[id] > bits.Len(uint(b.Number())) { // 1 + log2, rounded down
					t.Fatalf("%s was waited for in vain %d times in %d rounds", id, vain[id], b.Number())
				}
			}
		}
	})
}

// Everybody has each turn once in n rounds, and in each round one of n turns.
func TestTurnsGoRound(t *testing.T) {
	turns := Turns{Roster: roster(5)}
	if first := turns.Leader(1, 0); first != turns.Roster[1] {
		t.Errorf("round 1 begins with %s", first)
	}
	if last := turns.Leader(7, 3); last != turns.Roster[0] {
		t.Errorf("turn 3 of round 7 is that of %s", last)
	}
	for from := range 7 {
		var inRound, overRounds []peer.ID
		for i := range turns.Roster {
			inRound = append(inRound, turns.Leader(from, i))
			overRounds = append(overRounds, turns.Leader(from+i, 2))
		}
		slices.Sort(inRound)
		slices.Sort(overRounds)
		if !slices.Equal(inRound, turns.Roster) || !slices.Equal(overRounds, turns.Roster) {
			t.Errorf("from %d on: %v in the round, %v over rounds", from, inRound, overRounds)
		}
	}
}

// Who has been passed over m times is not waited for before 2^(m-1) rounds later, in any turn.
func TestTurnsForgiveEverLess(t *testing.T) {
	turns := Turns{Roster: roster(3)}
	var inVain []int
	for round := range 40 {
		turn := (3 - round%3) % 3 // that of the first
		if turns.Leader(round, turn) != turns.Roster[0] {
			t.Fatalf("round %d, turn %d is of another", round, turn)
		}
		if turns.Forgiven(round, turn) {
			inVain = append(inVain, round)
			turns.PassOver(round, turn)
		}
		if !turns.Forgiven(round, turn+1) {
			t.Fatalf("round %d: the second was never passed over", round)
		}
	}
	if want := []int{0, 1, 3, 7, 15, 31}; !slices.Equal(inVain, want) {
		t.Errorf("the first was waited for in rounds %v, want %v", inVain, want)
	}
}
