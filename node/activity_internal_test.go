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

// neighbourOf returns an active outbound neighbour. Neighbours with smaller numbers joined
// earlier.
func neighbourOf(number, of int) neighbour {
	return neighbour{
		peerActivity: peerActivity{since: noon.Add(time.Duration(number-1000) * time.Second), received: noon},
		id:           peer.ID(fmt.Sprintf("%03d", number)),
		from:         netip.MustParsePrefix(fmt.Sprintf("203.0.%d.0/24", of)),
		outbound:     true,
	}
}

func TestWhomToKeepWhenThereIsNoRoom(t *testing.T) {
	silent, listed := neighbourOf(1, 1), neighbourOf(2, 2)
	silent.received, listed.received, listed.listed = time.Time{}, time.Time{}, true
	all := []neighbour{silent, listed}
	for i := range 20 {
		all = append(all, neighbourOf(10+i, 9))
	}
	got := connectionValues(noon, all)
	for id, want := range map[peer.ID]int{
		"001": valueOnTask,
		"002": valueListed,
		"010": valueOnTask + valueActive, // of a range with twenty the first two lose nothing
		"011": valueOnTask + valueActive,
		"012": valueOnTask + valueActive - crowdedPenalty,
		"029": valueOnTask + valueActive - maxCrowdedPenalties*crowdedPenalty,
	} {
		if got[id] != want {
			t.Errorf("%s is worth %d, want %d", id, got[id], want)
		}
	}
}

func TestOutboundPeersThatNothingDisplaces(t *testing.T) {
	s := newActivity()
	var all []neighbour
	for i := range 20 {
		all = append(all, neighbourOf(i, 1))
	}
	choose := func(change bool) (ready, gone []peer.ID) {
		ready, gone = s.protect(noon, all, change)
		slices.Sort(ready)
		return ready, gone
	}
	// One range fills all places where there is no other.
	if ready, gone := choose(false); len(ready) != maxOutbound || ready[7] != "007" || len(gone) > 0 {
		t.Errorf("%v come, %v go", ready, gone)
	}
	for i := range 3 {
		all = append(all, neighbourOf(100+i, 2+i))
	}
	if ready, gone := choose(false); len(ready)+len(gone) > 0 {
		t.Errorf("others displace: %v come, %v go", ready, gone)
	}
	// When one makes room, another range has it.
	if ready, gone := choose(true); len(ready) != 1 || ready[0] != "100" || len(gone) != 1 {
		t.Errorf("change: %v come, %v go", ready, gone)
	}
	for i := range all {
		switch all[i].id {
		case "100":
			all[i].received = noon.Add(-activeTime)
		case "101":
			all[i].outbound = false
		}
	}
	if ready, gone := choose(false); len(ready) != 1 || ready[0] != "102" || !slices.Equal(gone, []peer.ID{"100"}) {
		t.Errorf("one falls silent: %v come, %v go", ready, gone)
	}
	all = nil
	if ready, gone := choose(true); len(ready) > 0 || len(gone) != maxOutbound {
		t.Errorf("all leave: %v come, %v go", ready, gone)
	}
}

// TestSilentPeersAreInactive checks that newcomers count as active only until newcomerTime ends.
func TestSilentPeersAreInactive(t *testing.T) {
	s := newActivity()
	s.noteJoin("a", noon)
	s.noteJoin("b", noon)
	if s.noteDelivery("stranger", noon) || !s.noteDelivery("a", noon.Add(time.Second)) {
		t.Error("a delivery counts for a peer that is not on the task, or not for one that is")
	}
	for after, want := range map[time.Duration]int{0: 2, newcomerTime: 1, activeTime: 1, activeTime + time.Second: 0} {
		if got := s.activeCount(noon.Add(after)); got != want {
			t.Errorf("after %v %d say something, want %d", after, got, want)
		}
	}
	s.noteLeave("a")
	if got := s.activeCount(noon.Add(newcomerTime)); got != 0 {
		t.Errorf("%d are left", got)
	}
}
