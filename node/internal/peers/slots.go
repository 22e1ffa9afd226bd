package peers

import (
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Slots limits the streams of a protocol that are read concurrently. When all slots are in use, the
// group with the most slots loses one to a group with fewer. Peers that the user has named displace
// other peers. It may be used from any goroutine.
type Slots struct {
	most, ofPeer int

	mu    sync.Mutex
	slots []*Slot // oldest first
}

// Slot is a stream that is read.
type Slot struct {
	ID    peer.ID
	Group string
	Named bool
	Reset func() error // of the stream
}

// NewSlots returns most slots; one peer gets ofPeer of them at most.
func NewSlots(most, ofPeer int) *Slots { return &Slots{most: most, ofPeer: ofPeer} }

// Acquire gives a stream a slot, which Release returns; false when there is none. The stream that
// loses its slot to it, nil for none, is to be reset.
func (s *Slots) Acquire(slot *Slot) (loser *Slot, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ofPeer := 0
	for _, other := range s.slots {
		if other.ID == slot.ID {
			ofPeer++
		}
	}
	if ofPeer >= s.ofPeer {
		return nil, false
	}
	if len(s.slots) >= s.most {
		victim := s.victim(slot)
		if victim < 0 {
			return nil, false
		}
		loser = s.slots[victim]
		s.slots = slices.Delete(s.slots, victim, victim+1)
	}
	s.slots = append(s.slots, slot)
	return loser, true
}

// Release returns a slot, unless it was lost.
func (s *Slots) Release(slot *Slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots = slices.DeleteFunc(s.slots, func(other *Slot) bool { return other == slot })
}

// victim returns the index of the slot that a new stream takes over, -1 for none: the oldest stream
// of the largest group.
func (s *Slots) victim(newcomer *Slot) int {
	among := newcomer.Named // whether the victim is a named peer
	if among && slices.ContainsFunc(s.slots, func(g *Slot) bool { return !g.Named }) {
		among = false
	}
	counts := map[string]int{}
	for _, g := range s.slots {
		if g.Named == among {
			counts[g.Group]++
		}
	}
	loser, most := -1, 0
	if among == newcomer.Named {
		most = counts[newcomer.Group] + 1 // that which loses one must not be the smaller one then
	}
	for i, g := range s.slots {
		if g.Named == among && counts[g.Group] > most {
			loser, most = i, counts[g.Group]
		}
	}
	return loser
}

// Streams with direct messages that are read at the same time.
const (
	MaxDirectStreams       = 32 // of a task, besides one of each peer that has a reserved slot
	maxDirectStreamsOfPeer = 4  // an honest one has one, besides those that it has given up
)

// DirectSlots limits the streams with direct messages of a task. One stream of a peer is read
// whatever others do, if a roster or the node's allow list names the peer. It may be used from any
// goroutine.
type DirectSlots struct {
	reserved func(peer.ID) bool

	mu      sync.Mutex
	streams map[peer.ID]int // that are read, by sender
	shared  int             // of them, those in slots that are reserved for no peer
}

// NewDirectSlots returns slots, one of which is reserved for each peer that the function names.
func NewDirectSlots(reserved func(peer.ID) bool) *DirectSlots {
	return &DirectSlots{reserved: reserved, streams: map[peer.ID]int{}}
}

// Acquire gives a stream of a peer a slot; false when there is none.
func (s *DirectSlots) Acquire(from peer.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[from] >= maxDirectStreamsOfPeer {
		return false
	}
	if s.streams[from] > 0 || !s.reserved(from) {
		if s.shared >= MaxDirectStreams {
			return false
		}
		s.shared++
	}
	s.streams[from]++
	return true
}

// Release returns a slot.
func (s *DirectSlots) Release(from peer.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[from] > 1 || !s.reserved(from) {
		s.shared--
	}
	if s.streams[from]--; s.streams[from] == 0 {
		delete(s.streams, from)
	}
}
