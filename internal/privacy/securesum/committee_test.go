package securesum

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multihash"
	"pgregory.net/rapid"
)

func taskID(t testing.TB, name string) cid.Cid {
	t.Helper()
	sum, err := multihash.Sum([]byte(name), multihash.SHA2_256, -1)
	if err != nil {
		t.Fatal(err)
	}
	return cid.NewCidV1(cid.Raw, sum)
}

func rosterOf(n int) []peer.ID {
	var ids []peer.ID
	for i := range n {
		ids = append(ids, peer.ID(fmt.Sprintf("agent %03d", i)))
	}
	return ids
}

func TestSmallestQuorums(t *testing.T) {
	for _, c := range []struct{ members, threshold, quorum int }{
		{20, 9, 15}, {7, 3, 6}, {5, 1, 4}, {5, 2, 4}, {3, 1, 3}, {2, 1, 2}, {4, 1, 3},
	} {
		got, err := NewCommittee(c.members, c.threshold)
		if err != nil || got.Quorum != c.quorum {
			t.Errorf("%d members, threshold %d: quorum %d, %v; want %d", c.members, c.threshold, got.Quorum, err, c.quorum)
		}
	}
}

// Two quorums always share a member that does not collude, the sum can be had
// from the quorum alone, and one vote less would not do.
func TestQuorumsMeetOutsideTheColluders(t *testing.T) {
	for members := 2; members <= MaxMembers; members++ {
		for threshold := 1; threshold < members; threshold++ {
			c, err := NewCommittee(members, threshold)
			if err != nil {
				t.Fatal(err)
			}
			if common := 2*c.Quorum - members; common <= threshold || c.Quorum <= threshold {
				t.Errorf("%+v: two quorums may share %d members only", c, common)
			}
			c.Quorum--
			if c.Validate() == nil {
				t.Errorf("%+v: accepted, although two sets could win", c)
			}
		}
	}
}

func TestImpossibleCommitteesAreRefused(t *testing.T) {
	for _, c := range []struct {
		committee Committee
		complaint string
	}{
		{Committee{1, 1, 1}, "committee of 1"},
		{Committee{MaxMembers + 1, 3, 60}, "committee of 65"},
		{Committee{5, 0, 3}, "threshold 0"},
		{Committee{5, -1, 3}, "threshold -1"},
		{Committee{5, 5, 5}, "threshold 5"},
		{Committee{5, 2, 6}, "quorum 6"},
		{Committee{5, 2, 3}, "quorum 3"},
		{Committee{20, 9, 14}, "at least 15"},
	} {
		if err := c.committee.Validate(); err == nil || !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%+v: %v, want something about %q", c.committee, err, c.complaint)
		}
	}
}

func TestElectionDependsOnWhatItShould(t *testing.T) {
	task, roster := taskID(t, "a"), rosterOf(30)
	first := Elect(task, 1, roster, 7)
	shuffled := slices.Clone(roster)
	slices.Reverse(shuffled)
	if !slices.Equal(first, Elect(task, 1, shuffled, 7)) {
		t.Error("the order of the roster matters")
	}
	if got := Elect(task, 1, roster, 30); !slices.Equal(got[:7], first) || !slices.Equal(slices.Sorted(slices.Values(got)), roster) {
		t.Error("a larger committee is another one, or not the whole roster")
	}
	for name, other := range map[string][]peer.ID{
		"round":  Elect(task, 2, roster, 7),
		"task":   Elect(taskID(t, "b"), 1, roster, 7),
		"roster": Elect(task, 1, roster[:29], 7),
	} {
		if slices.Equal(first, other) {
			t.Errorf("another %s has the same committee", name)
		}
	}
}

// Everybody serves equally often: in 3000 rounds of 6 among 20, 900 times with a
// standard deviation of 25.
func TestElectionIsFair(t *testing.T) {
	roster := rosterOf(20)
	counts := map[peer.ID]int{}
	for round := range uint64(3000) {
		for _, id := range Elect(taskID(t, "a"), round, roster, 6) {
			counts[id]++
		}
	}
	for id, n := range counts {
		if n < 775 || n > 1025 {
			t.Errorf("%s serves in %d rounds", id, n)
		}
	}
}

func TestSetOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		members := rapid.SliceOfDistinct(rapid.IntRange(0, n-1), rapid.ID).Draw(t, "members")
		s := newSet(n)
		for _, i := range members {
			s.add(i)
		}
		full := fullSet(n)
		if s.count() != len(members) || !s.of(n) || !s.within(full) || !s.within(s) || full.within(s) != (len(members) == n) || full.count() != n {
			t.Fatalf("%v of %d: %08b", members, n, s)
		}
		for i := range n {
			if s.has(i) != slices.Contains(members, i) {
				t.Fatalf("has(%d)", i)
			}
		}
		before := s.clone()
		for _, i := range members {
			s.remove(i)
		}
		if s.count() != 0 || before.count() != len(members) || before.equal(s) != (len(members) == 0) {
			t.Fatal("remove")
		}
		if n%8 != 0 {
			before[len(before)-1] |= 0x80
			if before.of(n) {
				t.Fatal("a bit beyond n is accepted")
			}
		}
	})
}
