package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

const (
	reservationRenewal = 15 * time.Minute // of the hour that a hub keeps a place; clocks are not compared
	reservationTimeout = 10 * time.Second
	directGrace        = 5 * time.Second // for what is under way on a relayed connection, once there is a direct one
)

// hub is one of a node's hubs, as the node sees it.
type hub struct {
	peer.AddrInfo
	connections atomic.Uint64 // how often one has come or gone: a hub that was away has forgotten all
	changed     chan struct{} // the same as a signal
	reservation atomic.Bool   // others can reach this node through it
}

func newHub(info peer.AddrInfo) *hub {
	return &hub{AddrInfo: info, changed: make(chan struct{}, 1)}
}

// circuits are addresses of this node through the hub, as the node itself
// reaches it; others that are connected with the hub need no more than its ID.
func (h *hub) circuits() []multiaddr.Multiaddr {
	if !h.reservation.Load() {
		return nil
	}
	through := peers.CircuitThrough(h.ID)
	var addresses []multiaddr.Multiaddr
	for _, address := range h.Addrs {
		addresses = append(addresses, address.Encapsulate(through))
	}
	return addresses
}

// advertise adds the relayed addresses to the node's own, of which it keeps what
// fits into a peer record.
func (n *Node) advertise(own []multiaddr.Multiaddr) []multiaddr.Multiaddr {
	var circuits []multiaddr.Multiaddr
	for _, h := range n.hubs {
		circuits = append(circuits, h.circuits()...)
	}
	circuits = circuits[:min(len(circuits), protocol.MaxAddresses/2)]
	return append(slices.Clone(own[:min(len(own), protocol.MaxAddresses-len(circuits))]), circuits...)
}

// startHubs keeps the node connected to its hubs, and with a place at each.
func (n *Node) startHubs(ctx context.Context) error {
	if len(n.hubs) == 0 {
		return nil
	}
	topicChurn, err := n.host.EventBus().Emitter(new(event.EvtAutoRelayAddrsUpdated))
	if err != nil {
		return fmt.Errorf("hubs: %w", err)
	}
	n.onClose(topicChurn.Close)
	bundle := &network.NotifyBundle{ConnectedF: n.connectionChanged, DisconnectedF: n.connectionChanged}
	n.host.Network().Notify(bundle)
	n.onClose(func() error { n.host.Network().StopNotify(bundle); return nil })
	for _, h := range n.hubs {
		n.host.ConnManager().Protect(h.ID, "hub")
		n.untried.Add(1)
		n.background(func() { n.keepConnected(ctx, "hub", h.AddrInfo) })
		if n.Host == nil { // else the node does not choose the addresses
			n.background(func() { n.keepReservation(ctx, h, topicChurn) })
		}
	}
	return nil
}

func (n *Node) connectionChanged(_ network.Network, c network.Conn) {
	for _, h := range n.hubs {
		if h.ID == c.RemotePeer() {
			h.connections.Add(1)
			select {
			case h.changed <- struct{}{}:
			default:
			}
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

// keepReservation asks a hub for a place, renews it, and asks again whenever the
// connection was lost, with which it ends.
func (n *Node) keepReservation(ctx context.Context, h *hub, topicChurn event.Emitter) {
	pause, warned := shortestPause, false
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.changed:
		case <-next.C:
		}
		if n.host.Network().Connectedness(h.ID) != network.Connected {
			next.Stop()
			n.reservation(h, false, topicChurn)
			continue
		}
		err := n.reserve(ctx, h)
		if ctx.Err() != nil {
			return
		}
		n.reservation(h, err == nil, topicChurn)
		if err == nil {
			pause, warned = shortestPause, false
			next.Reset(reservationRenewal)
			continue
		}
		n.log.Info("a hub gives no place", "peer", h.ID, "error", err)
		if !warned && pause > shortestPause { // once is no reason to warn: a connection may just have ended
			n.warn(fmt.Sprintf("hub %v does not relay to this node: %v; trying on", h.ID, err))
			warned = true
		}
		next.Reset(n.policy.Jittered(pause))
		pause = min(2*pause, longestPause)
	}
}

func (n *Node) reserve(ctx context.Context, h *hub) error {
	ctx, cancel := context.WithTimeout(ctx, reservationTimeout)
	defer cancel()
	reservation, err := client.Reserve(network.WithNoDial(ctx, "place at a hub"), n.host, peer.AddrInfo{ID: h.ID})
	var refused client.ReservationError
	switch {
	case errors.As(err, &refused) && refused.Unwrap() == nil:
		return fmt.Errorf("it answers %v (%s)", refused.Status, refused.Reason)
	case err != nil:
		return err
	case reservation.LimitData > 0 || reservation.LimitDuration > 0:
		return errors.New("it relays with limits, over which gossip does not work; is it a hub?")
	}
	return nil
}

// reservation notes whether others reach the node through a hub, and makes libp2p look
// at the node's addresses again; by itself it does so every five seconds.
func (n *Node) reservation(h *hub, got bool, topicChurn event.Emitter) {
	if h.reservation.Swap(got) != got {
		n.log.Info("reachable through a hub", "peer", h.ID, "now", got)
		_ = topicChurn.Emit(event.EvtAutoRelayAddrsUpdated{}) // fails only when the node closes
	}
}
