package access

import (
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/peers"
)

// Limits of protocols with small messages, such as requests for task names or introductions.
const (
	MaxSmallStreams       = 64
	MaxSmallStreamsOfPeer = 4
	SmallBytes            = 16 << 10 // memory for each stream
)

// ErrNotAllowed means that the policy refuses a peer. Another attempt has the same result.
var ErrNotAllowed = errors.New("may not be spoken to")

var (
	errRateExceeded = errors.New("asks too often")
	errNoSlot       = errors.New("there is no place for another stream")
)

// Limiter limits the concurrent streams of a protocol, and the memory and time of each stream.
type Limiter struct {
	slots   *peers.Slots
	name    string // name of the service in libp2p's resource manager
	bytes   int    // memory for each stream
	timeout time.Duration
}

// Admit admits a stream that a peer has opened, and reserves its memory and sets its deadline. The
// caller must call leave at the end of the stream. After an error the caller resets the stream. A
// refused stream beyond the rate of an honest peer is a violation, which Admit passes to blame.
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
		go loser.Reset() // Reset may wait for the connection
	}
	if err := s.limit(stream); err != nil {
		s.slots.Release(slot)
		return nil, err
	}
	return func() { s.slots.Release(slot) }, nil
}

// limit charges the stream's memory to the service of the limiter, and sets its deadline.
func (s *Limiter) limit(stream network.Stream) error {
	if err := stream.Scope().SetService(s.name); err != nil {
		return err
	}
	if err := stream.Scope().ReserveMemory(s.bytes, network.ReservationPriorityMedium); err != nil {
		return err
	}
	return stream.SetDeadline(time.Now().Add(s.timeout))
}

// NewLimiter returns a limiter for a protocol: at most count streams at the same time, at most
// ofPeer of them from one peer, and for each stream the given memory in bytes and the timeout. The
// name is that of the service in libp2p's resource manager.
func NewLimiter(name string, count, ofPeer, bytes int, timeout time.Duration) *Limiter {
	return &Limiter{slots: peers.NewSlots(count, ofPeer), name: name, bytes: bytes, timeout: timeout}
}

// NewSmallLimiter returns a limiter for a protocol with small messages.
func NewSmallLimiter(name string, timeout time.Duration) *Limiter {
	return NewLimiter(name, MaxSmallStreams, MaxSmallStreamsOfPeer, SmallBytes, timeout)
}
