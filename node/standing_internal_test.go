package node

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// neighbourOf is an outbound neighbour that says something, the earlier there the smaller
// its number.
func neighbourOf(number, of int) neighbour {
	return neighbour{
		stand:    stand{since: noon.Add(time.Duration(number-1000) * time.Second), heard: noon},
		id:       peer.ID(fmt.Sprintf("%03d", number)),
		from:     netip.MustParsePrefix(fmt.Sprintf("203.0.%d.0/24", of)),
		outbound: true,
	}
}

func TestWhomToKeepWhenThereIsNoRoom(t *testing.T) {
	silent, listed := neighbourOf(1, 1), neighbourOf(2, 2)
	silent.heard, listed.heard, listed.listed = time.Time{}, time.Time{}, true
	all := []neighbour{silent, listed}
	for i := range 20 {
		all = append(all, neighbourOf(10+i, 9))
	}
	got := worths(noon, all)
	for id, want := range map[peer.ID]int{
		"001": worthOnTask,
		"002": worthListed,
		"010": worthOnTask + worthSaying, // of a range with twenty the first two lose nothing
		"011": worthOnTask + worthSaying,
		"012": worthOnTask + worthSaying - worthCrowded,
		"029": worthOnTask + worthSaying - mostCrowded*worthCrowded,
	} {
		if got[id] != want {
			t.Errorf("%s is worth %d, want %d", id, got[id], want)
		}
	}
}

func TestOutboundPeersThatNothingDisplaces(t *testing.T) {
	s := newStanding()
	var all []neighbour
	for i := range 20 {
		all = append(all, neighbourOf(i, 1))
	}
	choose := func(change bool) (come, gone []peer.ID) {
		come, gone = s.choose(noon, all, change)
		slices.Sort(come)
		return come, gone
	}
	// One range fills all places where there is no other.
	if come, gone := choose(false); len(come) != mostOutbound || come[7] != "007" || len(gone) > 0 {
		t.Errorf("%v come, %v go", come, gone)
	}
	for i := range 3 {
		all = append(all, neighbourOf(100+i, 2+i))
	}
	if come, gone := choose(false); len(come)+len(gone) > 0 {
		t.Errorf("others displace: %v come, %v go", come, gone)
	}
	// When one makes room, another range has it.
	if come, gone := choose(true); len(come) != 1 || come[0] != "100" || len(gone) != 1 {
		t.Errorf("change: %v come, %v go", come, gone)
	}
	for i := range all {
		switch all[i].id {
		case "100":
			all[i].heard = noon.Add(-silence)
		case "101":
			all[i].outbound = false
		}
	}
	if come, gone := choose(false); len(come) != 1 || come[0] != "102" || !slices.Equal(gone, []peer.ID{"100"}) {
		t.Errorf("one falls silent: %v come, %v go", come, gone)
	}
	all = nil
	if come, gone := choose(true); len(come) > 0 || len(gone) != mostOutbound {
		t.Errorf("all leave: %v come, %v go", come, gone)
	}
}

// Newcomers count as company until they had time to say something.
func TestSilenceIsNoCompany(t *testing.T) {
	s := newStanding()
	s.came("a", noon)
	s.came("b", noon)
	if s.heard("stranger", noon) || !s.heard("a", noon.Add(time.Second)) {
		t.Error("heard")
	}
	for after, want := range map[time.Duration]int{0: 2, newcomer: 1, silence: 1, silence + time.Second: 0} {
		if got := s.saying(noon.Add(after)); got != want {
			t.Errorf("after %v %d say something, want %d", after, got, want)
		}
	}
	s.left("a")
	if got := s.saying(noon.Add(newcomer)); got != 0 {
		t.Errorf("%d are left", got)
	}
}
