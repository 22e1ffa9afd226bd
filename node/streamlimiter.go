package node

import (
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/peers"
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

// streamLimiter limits the streams of a protocol that are read concurrently, and what each takes.
type streamLimiter struct {
	slots   *peers.Slots
	name    string // for libp2p
	bytes   int    // that each may take up
	timeout time.Duration
}

// admit lets a stream in that a peer has opened, with the time and memory that it may take.
// What leave does is done when it has been dealt with. A stream that is not admitted is reset
// by the caller; more of them than an honest peer opens are faults.
func (s *streamLimiter) admit(stream network.Stream, p *peers.Policy, blame func(peer.ID, int, error)) (leave func(), err error) {
	from := stream.Conn().RemotePeer()
	if p.Banned(time.Now(), from) {
		return nil, errNotAllowed
	}
	leave, err = s.reserve(stream, p)
	if err != nil && !p.Allow(time.Now(), from, peers.ExcessStream, 1) {
		blame(from, 1, err)
	}
	return leave, err
}

func (s *streamLimiter) reserve(stream network.Stream, p *peers.Policy) (leave func(), err error) {
	connection := stream.Conn()
	from := connection.RemotePeer()
	if !p.Allow(time.Now(), from, peers.Sync, 1) {
		return nil, errRateExceeded
	}
	group := peers.GroupOf(connection.RemoteMultiaddr())
	slot := &peers.Slot{ID: from, Group: group, Named: p.Named(from), Reset: stream.Reset}
	loser, ok := s.slots.Acquire(slot)
	if !ok {
		return nil, errNoSlot
	}
	if loser != nil {
		go loser.Reset() // may wait for the connection
	}
	if err := s.limit(stream); err != nil {
		s.slots.Release(slot)
		return nil, err
	}
	return func() { s.slots.Release(slot) }, nil
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
	slots := peers.NewSlots(maxSyncStreams, maxSyncStreamsOfPeer)
	return &streamLimiter{slots: slots, name: "fbo.sync", bytes: protocol.MaxSyncRequestBytes, timeout: syncTimeout}
}

func newSmallStreamLimiter(name string, timeout time.Duration) *streamLimiter {
	return &streamLimiter{slots: peers.NewSlots(maxSmallStreams, maxSmallStreamsOfPeer), name: name, bytes: smallBytes, timeout: timeout}
}
