package node

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

// However many strangers have streams open, and however many members have more than one,
// each who is named has a place; and all places are free again afterwards.
func TestNobodyTakesAMembersPlace(t *testing.T) {
	t.Parallel()
	c := &directMessenger{
		roster:  map[peer.ID]bool{"first": true, "second": true},
		listed:  map[peer.ID]bool{"allowed": true},
		streams: map[peer.ID]int{},
	}
	for again := range 2 {
		var open []peer.ID
		enter := func(id peer.ID, want bool) {
			t.Helper()
			got := c.acquireSlot(id)
			if got {
				open = append(open, id)
			}
			if got != want {
				t.Errorf("time %d: %s, with %d streams open, enters: %v", again, id, len(open), got)
			}
		}
		for i := range maxDirectStreams / maxDirectStreamsOfPeer {
			stranger := peer.ID(fmt.Sprint("stranger ", i))
			for range maxDirectStreamsOfPeer {
				enter(stranger, true)
			}
			enter(stranger, false)
		}
		enter("one more stranger", false)
		for _, id := range []peer.ID{"first", "second", "allowed"} {
			enter(id, true)
			enter(id, false) // its second stream is as good as a stranger's
		}
		c.releaseSlot(open[0])
		open = open[1:]
		enter("first", true)
		for _, id := range open {
			c.releaseSlot(id)
		}
		if c.shared != 0 || len(c.streams) > 0 {
			t.Errorf("after all have left, %d places are taken, %v", c.shared, c.streams)
		}
	}
}
