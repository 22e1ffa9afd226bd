package node

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Streams that are read at the same time, and for how long.
const (
	maxSyncStreams       = 16 // each may take up protocol.MaxSyncRequestBytes
	maxSyncStreamsOfPeer = 8  // an honest one has one for each task in common

	maxSmallStreams       = 64 // questions about names, requests to be introduced
	maxSmallStreamsOfPeer = 4
	smallBytes            = 16 << 10 // that each may take up
)

var (
	errRateExceeded = errors.New("asks too often")
	errNoSlot       = errors.New("there is no place for another stream")
)

// streamLimiter limits the streams of a protocol that are read concurrently. When all slots are
// in use, the group with the most slots loses one to a group with fewer. Peers that the user has
// named displace other peers.
type streamLimiter struct {
	name                string // for libp2p
	most, ofPeer, bytes int
	timeout             time.Duration

	mu    sync.Mutex
	slots []*streamSlot // oldest first
}

// streamSlot is a stream that has a place.
type streamSlot struct {
	id    peer.ID
	group string
	named bool
	reset func() error
}

// acquire gives a stream a place, which leave gives back; false when there is none.
func (s *streamLimiter) acquire(g *streamSlot) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ofPeer := 0
	for _, other := range s.slots {
		if other.id == g.id {
			ofPeer++
		}
	}
	if ofPeer >= s.ofPeer {
		return nil, false
	}
	if len(s.slots) >= s.most {
		loser := s.victim(g)
		if loser < 0 {
			return nil, false
		}
		go s.slots[loser].reset() // may wait for the connection
		s.slots = slices.Delete(s.slots, loser, loser+1)
	}
	s.slots = append(s.slots, g)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.slots = slices.DeleteFunc(s.slots, func(other *streamSlot) bool { return other == g })
	}, true
}

// victim returns the index of the slot that a newcomer takes over, -1 for none: the oldest
// stream of the largest group. The caller holds the lock.
func (s *streamLimiter) victim(newcomer *streamSlot) int {
	among := newcomer.named // whether the victim is a named peer
	if among && slices.ContainsFunc(s.slots, func(g *streamSlot) bool { return !g.named }) {
		among = false
	}
	counts := map[string]int{}
	for _, g := range s.slots {
		if g.named == among {
			counts[g.group]++
		}
	}
	loser, most := -1, 0
	if among == newcomer.named {
		most = counts[newcomer.group] + 1 // that which loses one must not be the smaller one then
	}
	for i, g := range s.slots {
		if g.named == among && counts[g.group] > most {
			loser, most = i, counts[g.group]
		}
	}
	return loser
}

// admit lets a stream in that a peer has opened, with the time and memory that it may take.
// What leave does is done when it has been dealt with. A stream that is not admitted is reset
// by the caller; more of them than an honest peer opens are faults.
func (s *streamLimiter) admit(stream network.Stream, c *peerPolicy, named bool, blame func(peer.ID, int, error)) (leave func(), err error) {
	from := stream.Conn().RemotePeer()
	if c.isBanned(from) {
		return nil, errNotAllowed
	}
	leave, err = s.reserve(stream, c, named)
	if err != nil && !c.allowExcessStream(from) {
		blame(from, 1, err)
	}
	return leave, err
}

func (s *streamLimiter) reserve(stream network.Stream, c *peerPolicy, named bool) (leave func(), err error) {
	connection := stream.Conn()
	from := connection.RemotePeer()
	if !c.allowSync(from) {
		return nil, errRateExceeded
	}
	_, group := groupOfAddress(connection.RemoteMultiaddr())
	leave, ok := s.acquire(&streamSlot{id: from, group: group, named: named, reset: stream.Reset})
	if !ok {
		return nil, errNoSlot
	}
	if err := s.limit(stream); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// limit puts on the service's account what a stream takes, and ends it in time.
func (s *streamLimiter) limit(stream network.Stream) error {
	if err := stream.Scope().SetService(s.name); err != nil {
		return err
	}
	if err := stream.Scope().ReserveMemory(s.bytes, network.ReservationPriorityMedium); err != nil {
		return err
	}
	return stream.SetDeadline(time.Now().Add(s.timeout))
}

func newSyncLimiter() *streamLimiter {
	return &streamLimiter{
		name: "fbo.sync", most: maxSyncStreams, ofPeer: maxSyncStreamsOfPeer,
		bytes: protocol.MaxSyncRequestBytes, timeout: syncTimeout,
	}
}

func newSmallStreamLimiter(name string, timeout time.Duration) *streamLimiter {
	return &streamLimiter{name: name, most: maxSmallStreams, ofPeer: maxSmallStreamsOfPeer, bytes: smallBytes, timeout: timeout}
}
