package node

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/hub"
	"github.com/fbo-node/fbo/node/internal/peers"
)

const directGrace = 5 * time.Second // time for messages on a relayed connection to arrive after a direct connection exists

// startHubs keeps the node connected to each of its hubs, with a relay reservation at each.
func (n *Node) startHubs(ctx context.Context) error {
	if len(n.hubs) == 0 {
		return nil
	}
	changes, err := n.host.EventBus().Emitter(new(event.EvtAutoRelayAddrsUpdated))
	if err != nil {
		return fmt.Errorf("hubs: %w", err)
	}
	n.onClose(changes.Close)
	bundle := &network.NotifyBundle{ConnectedF: n.connectionChanged, DisconnectedF: n.connectionChanged}
	n.host.Network().Notify(bundle)
	n.onClose(func() error { n.host.Network().StopNotify(bundle); return nil })
	c := &hub.Client{Host: n.host, Policy: n.policy, Log: n.log, Warn: n.warn, Changed: func() {
		// Without this event libp2p reads the addresses only every five seconds.
		_ = changes.Emit(event.EvtAutoRelayAddrsUpdated{}) // fails only when the node closes
	}}
	for _, h := range n.hubs {
		n.host.ConnManager().Protect(h.ID, "hub")
		n.network.Expect()
		n.background(func() { n.network.KeepConnected(ctx, "hub", h.AddrInfo) })
		if n.Host == nil { // with a Host of the user, the node does not choose the addresses
			n.background(func() { c.KeepReservation(ctx, h) })
		}
	}
	return nil
}

func (n *Node) connectionChanged(_ network.Network, c network.Conn) {
	for _, h := range n.hubs {
		if h.ID == c.RemotePeer() {
			h.ConnectionChanged()
		}
	}
	if n.Host == nil && !c.IsClosed() && !relayed(c) { // the user's program may still need relayed connections of its own Host
		time.AfterFunc(directGrace, func() { n.leaveRelay(c.RemotePeer()) })
	}
}

// leaveRelay closes the relayed connections to a peer if a direct connection to it exists.
// Protocols that used a relayed connection open new streams on the direct one.
func (n *Node) leaveRelay(id peer.ID) {
	connections := n.host.Network().ConnsToPeer(id)
	if !slices.ContainsFunc(connections, func(c network.Conn) bool { return !relayed(c) }) {
		return
	}
	for _, c := range connections {
		if relayed(c) {
			_ = c.Close()
		}
	}
}

func relayed(c network.Conn) bool { return peers.IsCircuit(c.RemoteMultiaddr()) }
