package hub

import (
	"context"
	"sync"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"golang.org/x/time/rate"

	"github.com/fbo-node/fbo/node/internal/peers"
)

// The rate, in bytes per second, and the burst of the data that a hub relays for one range of
// addresses. The burst allows two sync responses with all shares that a node may store. Nodes need
// far less. A program that abuses the hub as a relay finds faster ones.
const relayByteRate, relayByteBurst = 1 << 20, 16 << 20

// relayRates limits the bytes that each range of addresses sends through a hub. A hub cannot
// inspect this data, since the nodes encrypt it end to end.
type relayRates struct {
	ctx    context.Context
	exempt func(peer.ID) bool

	mu     sync.Mutex
	groups peers.Groups
}

// newRelayRates returns limits for each range of addresses. Peers for which exempt returns true
// have no limit. Waits for a limit end with ctx.
func newRelayRates(ctx context.Context, exempt func(peer.ID) bool) *relayRates {
	return &relayRates{ctx: ctx, exempt: exempt, groups: peers.NewGroups(relayByteRate, relayByteBurst)}
}

// of returns the limiter of a group (see peers.GroupOf).
func (r *relayRates) of(group string) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.groups.Of(group)
}

// limit returns a stream whose reads are limited to the rate of its sender's range.
func (r *relayRates) limit(s network.Stream) network.Stream {
	if r.exempt(s.Conn().RemotePeer()) {
		return s
	}
	group := peers.GroupOf(s.Conn().RemoteMultiaddr())
	return limitedStream{Stream: s, ctx: r.ctx, limiter: r.of(group)}
}

// limitedStream is a stream whose reads wait for a limiter.
type limitedStream struct {
	network.Stream
	ctx     context.Context
	limiter *rate.Limiter
}

// Read waits after it has read, so that libp2p's flow control slows the sender down.
func (s limitedStream) Read(p []byte) (n int, err error) {
	n, err = s.Stream.Read(p[:min(len(p), s.limiter.Burst())])
	if waited := s.limiter.WaitN(s.ctx, n); err == nil {
		err = waited
	}
	return n, err
}

// relayHost is the host that the relay service gets. All its streams are limited.
type relayHost struct {
	host.Host
	rates *relayRates
}

func (h relayHost) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	h.Host.SetStreamHandler(id, func(s network.Stream) { handle(h.rates.limit(s)) })
}

func (h relayHost) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	s, err := h.Host.NewStream(ctx, p, ids...)
	if err != nil {
		return nil, err
	}
	return h.rates.limit(s), nil
}
