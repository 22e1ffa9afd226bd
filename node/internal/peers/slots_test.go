package peers

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

const maxSlots, maxSlotsOfPeer = 16, 8

// entry acquires a slot, and returns a pointer to whether its stream was reset.
func (s *Slots) entry(id, group string, named bool) (reset *bool, leave func(), ok bool) {
	reset = new(bool)
	slot := &Slot{ID: peer.ID(id), Group: group, Named: named, Reset: func() error { *reset = true; return nil }}
	loser, ok := s.Acquire(slot)
	if loser != nil {
		_ = loser.Reset()
	}
	return reset, func() { s.Release(slot) }, ok
}

func (s *Slots) holds(group string) (count int) {
	for _, g := range s.slots {
		if g.Group == group {
			count++
		}
	}
	return count
}

// TestLargestGroupLosesAStream checks that fifty identities of one address with open streams do not keep
// out others, and that a group no smaller than another takes no slot of it.
func TestLargestGroupLosesAStream(t *testing.T) {
	s := NewSlots(maxSlots, maxSlotsOfPeer)
	first, leaveFirst, _ := s.entry("made up 0", "attacker", false)
	for i := range 50 * maxSlotsOfPeer {
		s.entry(fmt.Sprint("made up ", 1+i/maxSlotsOfPeer), "attacker", false)
	}
	if len(s.slots) != maxSlots {
		t.Fatalf("%d streams are read", len(s.slots))
	}
	for i := range maxSlots / 2 {
		if _, _, ok := s.entry(fmt.Sprint("honest ", i/2), "lab", false); !ok {
			t.Fatalf("stream %d of others finds no place", i)
		}
	}
	if !*first {
		t.Error("the oldest stream of the largest group is not reset")
	}
	leaveFirst() // its handler ends: nothing is given back twice
	if _, _, ok := s.entry("one more", "lab", false); ok || s.holds("attacker") != maxSlots/2 || s.holds("lab") != maxSlots/2 {
		t.Errorf("%d and %d streams are read", s.holds("attacker"), s.holds("lab"))
	}
	if _, _, ok := s.entry("elsewhere", "elsewhere", false); !ok {
		t.Error("a third group finds no place")
	}
}

// TestNamedPeersGoFirst checks that named peers displace others, whatever slots their groups have.
func TestNamedPeersGoFirst(t *testing.T) {
	s := NewSlots(64, 4)
	for i := range s.most {
		s.entry(fmt.Sprint("stranger ", i), fmt.Sprint("group ", i), false)
	}
	var leaves []func()
	for i := range s.most {
		_, leave, ok := s.entry(fmt.Sprint("named ", i), "lab", true)
		if !ok {
			t.Fatalf("named node %d finds no place", i)
		}
		leaves = append(leaves, leave)
	}
	if _, _, ok := s.entry("stranger", "elsewhere", false); ok || s.holds("lab") != s.most {
		t.Error("a stranger takes the place of a named node")
	}
	if _, _, ok := s.entry("named, from elsewhere", "elsewhere", true); !ok {
		t.Error("the largest group of named nodes loses nothing to another")
	}
	for _, leave := range leaves {
		leave()
		leave()
	}
	if len(s.slots) != 1 {
		t.Errorf("%d places are taken after all but one have left", len(s.slots))
	}
}

func TestStreamsOfOnePeer(t *testing.T) {
	s := NewSlots(maxSlots, maxSlotsOfPeer)
	for i := range maxSlotsOfPeer + 1 {
		if _, _, ok := s.entry("peer", "group", false); ok != (i < maxSlotsOfPeer) {
			t.Errorf("stream %d of one peer: %v", i+1, ok)
		}
	}
}

// TestReservedDirectSlots checks that each peer with a reserved slot gets it while all others are in use,
// and that all slots are free again afterwards.
func TestReservedDirectSlots(t *testing.T) {
	t.Parallel()
	c := NewDirectSlots(func(id peer.ID) bool { return id == "first" || id == "second" || id == "allowed" })
	for again := range 2 {
		var open []peer.ID
		enter := func(id peer.ID, want bool) {
			t.Helper()
			got := c.Acquire(id)
			if got {
				open = append(open, id)
			}
			if got != want {
				t.Errorf("time %d: %s, with %d streams open, enters: %v", again, id, len(open), got)
			}
		}
		for i := range MaxDirectStreams / maxDirectStreamsOfPeer {
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
		c.Release(open[0])
		open = open[1:]
		enter("first", true)
		for _, id := range open {
			c.Release(id)
		}
		if c.shared != 0 || len(c.streams) > 0 {
			t.Errorf("after all have left, %d places are taken, %v", c.shared, c.streams)
		}
	}
}

func TestStreamsOfDirectMessagesAreBounded(t *testing.T) {
	c := NewDirectSlots(func(peer.ID) bool { return false })
	var entered []peer.ID
	for i := range 3 * MaxDirectStreams {
		id := peer.ID(fmt.Sprint(i % (MaxDirectStreams / 2)))
		if c.Acquire(id) {
			entered = append(entered, id)
		}
	}
	if len(entered) != MaxDirectStreams {
		t.Errorf("%d streams at the same time, the limit is %d", len(entered), MaxDirectStreams)
	}
	for _, id := range entered {
		c.Release(id)
	}
	if c.shared != 0 || len(c.streams) != 0 {
		t.Errorf("%d streams and %d peers are left", c.shared, len(c.streams))
	}
	for i := range 2 * maxDirectStreamsOfPeer {
		if got := c.Acquire("one"); got != (i < maxDirectStreamsOfPeer) {
			t.Errorf("stream %d of one peer: %v", i+1, got)
		}
	}
}
