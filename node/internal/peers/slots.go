package peers

import (
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Slots limits the concurrent streams of a protocol. If all slots are in use, a stream from a
// smaller group displaces the oldest stream of the group with the most slots. Peers that the user
// has named displace all others. It may be used from any goroutine.
type Slots struct {
	most, ofPeer int

	mu    sync.Mutex
	slots []*Slot // oldest first
}

// Slot describes a stream that the node is reading.
type Slot struct {
	ID    peer.ID
	Group string
	Named bool
	Reset func() error // resets the stream
}

// NewSlots returns Slots for at most most streams, and at most ofPeer of one peer.
func NewSlots(most, ofPeer int) *Slots { return &Slots{most: most, ofPeer: ofPeer} }

// Acquire gives a stream a slot, or returns false if there is none. The caller must call Release at
// the stream's end. If the stream displaces another one, the caller must reset that one, which is
// loser.
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

// Release frees a stream's slot, unless another stream has displaced it.
func (s *Slots) Release(slot *Slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots = slices.DeleteFunc(s.slots, func(other *Slot) bool { return other == slot })
}

// victim returns the index of the slot that a new stream takes over: the oldest stream of the
// largest group, if that group is large enough. It returns -1 if there is none.
func (s *Slots) victim(newcomer *Slot) int {
	among := newcomer.Named // true: a named peer loses a slot; false: one that is not named
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
		most = counts[newcomer.Group] + 1 // the group that loses a slot must still have as many as the newcomer's group
	}
	for i, g := range s.slots {
		if g.Named == among && counts[g.Group] > most {
			loser, most = i, counts[g.Group]
		}
	}
	return loser
}

// Limits of concurrent streams with direct messages.
const (
	MaxDirectStreams       = 32 // per task, in addition to the reserved slots
	maxDirectStreamsOfPeer = 4  // an honest peer needs one, and may have reset others whose end has not arrived
)

// DirectSlots limits the streams with direct messages of a task. Each peer on a roster or on the
// node's allow list has one reserved slot. It may be used from any goroutine.
type DirectSlots struct {
	reserved func(peer.ID) bool

	mu      sync.Mutex
	streams map[peer.ID]int // number of streams in progress, by sender
	shared  int             // number of them in slots that are not reserved
}

// NewDirectSlots returns DirectSlots with one reserved slot for each peer for which reserved
// returns true.
func NewDirectSlots(reserved func(peer.ID) bool) *DirectSlots {
	return &DirectSlots{reserved: reserved, streams: map[peer.ID]int{}}
}

// Acquire gives a peer's stream a slot, or returns false if there is none.
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
