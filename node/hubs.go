package node

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/hub"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

const (
	directGrace       = 5 * time.Second // for messages on a relayed connection, once there is a direct one
	rendezvousPause   = 2 * time.Second // at most, for a node with too few active peers that learns of new nodes
	rendezvousRenewal = 2 * time.Minute // for a node with enough active peers
)

// startHubs keeps the node connected to its hubs, and with a place at each.
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
		// By itself libp2p reads the addresses every five seconds.
		_ = changes.Emit(event.EvtAutoRelayAddrsUpdated{}) // fails only when the node closes
	}}
	for _, h := range n.hubs {
		n.host.ConnManager().Protect(h.ID, "hub")
		n.untried.Add(1)
		n.background(func() { n.keepConnected(ctx, "hub", h.AddrInfo) })
		if n.Host == nil { // else the node does not choose the addresses
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
	if n.Host == nil && !c.IsClosed() && !relayed(c) { // a Host of the user's may have other uses for them
		time.AfterFunc(directGrace, func() { n.leaveRelay(c.RemotePeer()) })
	}
}

// leaveRelay closes relayed connections to a peer to which there is a direct one;
// what spoke over them speaks over that.
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

// registerAtHubs registers the node for the task at a hub and learns other nodes on the task: at once,
// then at growing intervals, and again when the connection was lost or the node's own addresses have
// changed. maintainConnections dials the nodes.
func (t *topic) registerAtHubs(h *hub.Link) {
	n := t.session.node
	pause, next := peers.ConnectPause, time.Now()
	var handedIn []byte
	connection := uint64(0)
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(n.policy.Jittered(peers.ConnectPause)):
		}
		if n.host.Network().Connectedness(h.ID) != network.Connected {
			next = time.Now()
			continue
		}
		record, current := t.recordOf(n.host.ID()), h.Connections()
		changed := current != connection || !bytes.Equal(record, handedIn)
		if record == nil || !changed && time.Now().Before(next) {
			continue
		}
		if changed {
			pause = peers.ConnectPause
		}
		before := t.policy.Members()
		request := protocol.RendezvousRequest{Task: t.session.rendezvous, PeerRecord: record}
		err := hub.Register(t.ctx, n.host, h.ID, request, t.learn)
		if t.ctx.Err() != nil {
			return
		}
		if err != nil {
			t.session.logger.Info("a hub does not introduce this node", "peer", h.ID, "error", err)
		}
		handedIn, connection = record, current
		next = time.Now().Add(n.policy.Jittered(pause))
		pause = min(2*pause, peers.LongPause)
		if after := t.policy.Members(); after > before {
			pause = min(pause, rendezvousPause) // there may be more
		}
		if err == nil && t.policy.Active(time.Now()) >= peers.EnoughPeers {
			next = time.Now().Add(n.policy.Jittered(rendezvousRenewal))
		}
	}
}
