package access

import (
	crand "crypto/rand"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/peers"
)

// NewPolicy returns the policy of a node or hub. Its random choices are seeded by the system's
// random source, so that peers cannot predict them.
func NewPolicy(c peers.Config) *peers.Policy {
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // never fails
	c.Random = rand.NewChaCha8(seed)
	return peers.New(c)
}

// Follow reports the connections of a host to its policy until stop is called. It closes
// connections of banned peers as soon as they are established.
func Follow(p *peers.Policy, n network.Network) (stop func()) {
	connected := func(c network.Conn) {
		now, id, address := time.Now(), c.RemotePeer(), c.RemoteMultiaddr()
		p.Connected(now, id, c.ID(), address, c.Stat().Direction == network.DirOutbound)
		if p.Blocked(now, id, address) {
			go c.Close() // Close waits for notifications, so calling it here would deadlock
		}
	}
	bundle := &network.NotifyBundle{
		ConnectedF:    func(_ network.Network, c network.Conn) { connected(c) },
		DisconnectedF: func(_ network.Network, c network.Conn) { p.Disconnected(c.RemotePeer(), c.ID()) },
	}
	n.Notify(bundle)
	for _, c := range n.Conns() { // connections that existed before
		if connected(c); c.IsClosed() {
			p.Disconnected(c.RemotePeer(), c.ID())
		}
	}
	return func() { n.StopNotify(bundle) }
}

// Report records a violation of a peer. If this bans the peer, or also its range of addresses,
// Report starts to close the affected connections and does not wait for the end.
func Report(p *peers.Policy, n network.Network, log *slog.Logger, id peer.ID, weight int, why error) {
	now := time.Now()
	verdict := p.Violated(now, id, weight)
	if !verdict.Banned {
		return
	}
	go n.ClosePeer(id)
	log.Warn("peer disconnected for misbehaviour", "peer", id, "for", peers.BanTime, "last", why)
	for _, r := range verdict.Ranges {
		log.Warn("addresses banned, after several peers from there", "peer", id, "range", r, "for", peers.BanTime)
	}
	if len(verdict.Ranges) == 0 {
		return
	}
	for _, c := range n.Conns() {
		if p.Blocked(now, c.RemotePeer(), c.RemoteMultiaddr()) {
			go c.Close()
		}
	}
}
