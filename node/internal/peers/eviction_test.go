package peers

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

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

func TestConnectionValues(t *testing.T) {
	silent, listed := neighbourOf(1, 1), neighbourOf(2, 2)
	silent.received, listed.received, listed.listed = time.Time{}, time.Time{}, true
	all := []neighbour{silent, listed}
	for i := range 20 {
		all = append(all, neighbourOf(10+i, 9))
	}
	got := connectionValues(noon, all)
	for id, want := range map[peer.ID]int{
		"001": ValueOnTask,
		"002": valueListed,
		"010": ValueOnTask + valueActive, // of a range with twenty the first two lose nothing
		"011": ValueOnTask + valueActive,
		"012": ValueOnTask + valueActive - crowdedPenalty,
		"029": ValueOnTask + valueActive - maxCrowdedPenalties*crowdedPenalty,
	} {
		if got[id] != want {
			t.Errorf("%s is worth %d, want %d", id, got[id], want)
		}
	}
}

func TestProtectedOutboundPeers(t *testing.T) {
	s := New(config()).NewTask(nil)
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
			all[i].received = noon.Add(-ActiveTime)
		case "101":
			all[i].outbound = false
		}
	}
	if ready, gone := choose(false); len(ready) != 1 || ready[0] != "102" || !slices.Equal(gone, []peer.ID{"100"}) {
		t.Errorf("one is inactive: %v come, %v go", ready, gone)
	}
	all = nil
	if ready, gone := choose(true); len(ready) > 0 || len(gone) != maxOutbound {
		t.Errorf("all leave: %v come, %v go", ready, gone)
	}
}
