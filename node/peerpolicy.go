package node

import (
	crand "crypto/rand"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/peers"
)

// newPolicy returns the policy of a node or hub, with random choices that peers cannot predict.
func newPolicy(c peers.Config) *peers.Policy {
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // never fails
	c.Random = rand.NewChaCha8(seed)
	return peers.New(c)
}

// followConnections reports the connections of a host to its policy, and closes those of banned peers
// as soon as they are established, until stop is called.
func followConnections(p *peers.Policy, n network.Network) (stop func()) {
	connected := func(c network.Conn) {
		now, id, address := time.Now(), c.RemotePeer(), c.RemoteMultiaddr()
		p.Connected(now, id, c.ID(), address, c.Stat().Direction == network.DirOutbound)
		if p.Blocked(now, id, address) {
			go c.Close() // closing from within the notification would wait for itself
		}
	}
	bundle := &network.NotifyBundle{
		ConnectedF:    func(_ network.Network, c network.Conn) { connected(c) },
		DisconnectedF: func(_ network.Network, c network.Conn) { p.Disconnected(c.RemotePeer(), c.ID()) },
	}
	n.Notify(bundle)
	for _, c := range n.Conns() { // those that are older
		if connected(c); c.IsClosed() {
			p.Disconnected(c.RemotePeer(), c.ID())
		}
	}
	return func() { n.StopNotify(bundle) }
}

// reportViolation records a violation of a peer. It closes the connections of a peer that is banned
// for it, and those from a range that is banned with it, and does not wait until they are closed.
func reportViolation(p *peers.Policy, n network.Network, log *slog.Logger, id peer.ID, weight int, why error) {
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

// reportViolation records a violation of a peer, unless it is the node itself.
func (n *Node) reportViolation(id peer.ID, weight int, why error) {
	if id == n.host.ID() {
		return
	}
	n.log.Info("a peer misbehaves", "peer", id, "error", why)
	reportViolation(n.policy, n.host.Network(), n.log, id, weight, why)
}

// isBanned reports whether a peer is banned now.
func (n *Node) isBanned(id peer.ID) bool { return n.policy.Banned(time.Now(), id) }

// rejectionTracer reports gossip that pubsub itself finds malformed.
type rejectionTracer struct {
	noTracer
	node *Node
}

// RejectMessage implements pubsub.RawTracer.
func (r rejectionTracer) RejectMessage(m *pubsub.Message, reason string) {
	switch reason {
	case pubsub.RejectMissingSignature, pubsub.RejectInvalidSignature, pubsub.RejectUnexpectedAuthInfo:
		r.node.reportViolation(m.ReceivedFrom, 1, errors.New(reason))
	}
}
