package access

import (
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/peers"
)

// Limits of the small streams of a protocol, such as requests for task names or to be introduced.
const (
	MaxSmallStreams       = 64
	MaxSmallStreamsOfPeer = 4
	SmallBytes            = 16 << 10 // that each may take up
)

// ErrNotAllowed means that the policy refuses a peer. Another attempt has the same result.
var ErrNotAllowed = errors.New("may not be spoken to")

var (
	errRateExceeded = errors.New("asks too often")
	errNoSlot       = errors.New("there is no place for another stream")
)

// Limiter limits the streams of a protocol that are read concurrently, and what each takes.
type Limiter struct {
	slots   *peers.Slots
	name    string // for libp2p
	bytes   int    // that each may take up
	timeout time.Duration
}

// Admit gives a stream that a peer has opened the time and memory that it may take. The caller calls
// leave at the end of the stream. The caller resets a stream that is not admitted; more of them than
// an honest peer opens are violations, of which blame receives one each.
func (s *Limiter) Admit(stream network.Stream, p *peers.Policy, blame func(peer.ID, int, error)) (leave func(), err error) {
	from := stream.Conn().RemotePeer()
	if p.Banned(time.Now(), from) {
		return nil, ErrNotAllowed
	}
	leave, err = s.reserve(stream, p)
	if err != nil && !p.Allow(time.Now(), from, peers.ExcessStream, 1) {
		blame(from, 1, err)
	}
	return leave, err
}

func (s *Limiter) reserve(stream network.Stream, p *peers.Policy) (leave func(), err error) {
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
func (s *Limiter) limit(stream network.Stream) error {
	if err := stream.Scope().SetService(s.name); err != nil {
		return err
	}
	if err := stream.Scope().ReserveMemory(s.bytes, network.ReservationPriorityMedium); err != nil {
		return err
	}
	return stream.SetDeadline(time.Now().Add(s.timeout))
}

// NewLimiter returns a limiter for a protocol: for at most count streams at the same time, of which
// one peer has at most ofPeer, and for each at most bytes of memory and a timeout. The name is for
// libp2p.
func NewLimiter(name string, count, ofPeer, bytes int, timeout time.Duration) *Limiter {
	return &Limiter{slots: peers.NewSlots(count, ofPeer), name: name, bytes: bytes, timeout: timeout}
}

// NewSmallLimiter returns a limiter for small streams.
func NewSmallLimiter(name string, timeout time.Duration) *Limiter {
	return NewLimiter(name, MaxSmallStreams, MaxSmallStreamsOfPeer, SmallBytes, timeout)
}
