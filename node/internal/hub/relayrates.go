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

// Bytes a second that a hub relays for a range of addresses, and as many at once as two answers
// with everything that a node holds. Nodes need far less; others find better relays.
const relayByteRate, relayByteBurst = 1 << 20, 16 << 20

// relayRates limits what a hub relays: the bytes that each range of addresses sends. A hub
// does not see what two nodes exchange, since they encrypt it end to end.
type relayRates struct {
	ctx    context.Context
	exempt func(peer.ID) bool

	mu     sync.Mutex
	groups peers.Groups
}

// newRelayRates returns limits for each range, and none for the exempt. Waits for a limit end with
// ctx.
func newRelayRates(ctx context.Context, exempt func(peer.ID) bool) *relayRates {
	return &relayRates{ctx: ctx, exempt: exempt, groups: peers.NewGroups(relayByteRate, relayByteBurst)}
}

// of returns the limit of a group.
func (r *relayRates) of(group string) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.groups.Of(group)
}

// limit returns the stream with reads at the rate of its sender's range.
func (r *relayRates) limit(s network.Stream) network.Stream {
	if r.exempt(s.Conn().RemotePeer()) {
		return s
	}
	group := peers.GroupOf(s.Conn().RemoteMultiaddr())
	return limitedStream{Stream: s, ctx: r.ctx, limiter: r.of(group)}
}

// limitedStream reads no faster than its limiter lets it.
type limitedStream struct {
	network.Stream
	ctx     context.Context
	limiter *rate.Limiter
}

// Read waits after the bytes that it has read, so that the sender's window fills.
func (s limitedStream) Read(p []byte) (n int, err error) {
	n, err = s.Stream.Read(p[:min(len(p), s.limiter.Burst())])
	if waited := s.limiter.WaitN(s.ctx, n); err == nil {
		err = waited
	}
	return n, err
}

// relayHost is a hub's host as its relay service sees it: all streams are limited.
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
