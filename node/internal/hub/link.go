package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

const (
	reservationRenewal = 15 * time.Minute // well within reservationTTL, so that clocks need not be compared
	reservationTimeout = 10 * time.Second
)

// Link is a node's state of one of its hubs.
type Link struct {
	peer.AddrInfo
	connections atomic.Uint64 // number of connections begun or ended; a new connection means that the hub has no registrations of this node
	changed     chan struct{} // receives a signal at each change of connections
	reservation atomic.Bool
}

// NewLink returns the link to a hub.
func NewLink(info peer.AddrInfo) *Link {
	return &Link{AddrInfo: info, changed: make(chan struct{}, 1)}
}

// ConnectionChanged records that a connection with the hub has begun or ended.
func (l *Link) ConnectionChanged() {
	l.connections.Add(1)
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Connections returns the number of calls of ConnectionChanged.
func (l *Link) Connections() uint64 { return l.connections.Load() }

// Reachable reports whether peers can reach the node through the hub.
func (l *Link) Reachable() bool { return l.reservation.Load() }

// circuits returns the node's relayed addresses through the hub, one for each address of the hub,
// or none without a reservation. Nodes that are connected to the hub need only the hub's ID in
// them.
func (l *Link) circuits() []multiaddr.Multiaddr {
	if !l.reservation.Load() {
		return nil
	}
	through := peers.CircuitThrough(l.ID)
	var addresses []multiaddr.Multiaddr
	for _, address := range l.Addrs {
		addresses = append(addresses, address.Encapsulate(through))
	}
	return addresses
}

// Advertise appends the relayed addresses of a node to its own addresses, and shortens the list so
// that it fits into a peer record.
func Advertise(links []*Link, own []multiaddr.Multiaddr) []multiaddr.Multiaddr {
	var circuits []multiaddr.Multiaddr
	for _, l := range links {
		circuits = append(circuits, l.circuits()...)
	}
	circuits = circuits[:min(len(circuits), protocol.MaxAddresses/2)]
	return append(slices.Clone(own[:min(len(own), protocol.MaxAddresses-len(circuits))]), circuits...)
}

// Client keeps reservations at a node's hubs.
type Client struct {
	Host    host.Host
	Policy  *peers.Policy
	Log     *slog.Logger
	Warn    func(message string)
	Changed func() // called when the node's relayed addresses change
}

// KeepReservation makes a reservation at a hub and renews it. A reservation ends with the
// connection to the hub, so KeepReservation makes a new one after each new connection. It returns
// when the context ends.
func (c *Client) KeepReservation(ctx context.Context, l *Link) {
	pause, warned := nethost.ShortestPause, false
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.changed:
		case <-next.C:
		}
		if c.Host.Network().Connectedness(l.ID) != network.Connected {
			next.Stop()
			c.reserved(l, false)
			continue
		}
		err := c.reserve(ctx, l)
		if ctx.Err() != nil {
			return
		}
		c.reserved(l, err == nil)
		if err == nil {
			pause, warned = nethost.ShortestPause, false
			next.Reset(reservationRenewal)
			continue
		}
		c.Log.Info("a hub gives no place", "peer", l.ID, "error", err)
		if !warned && pause > nethost.ShortestPause { // no warning after one failure: a connection may just have ended
			c.Warn(fmt.Sprintf("hub %v does not relay to this node: %v; trying on", l.ID, err))
			warned = true
		}
		next.Reset(c.Policy.Jittered(pause))
		pause = min(2*pause, nethost.LongestPause)
	}
}

func (c *Client) reserve(ctx context.Context, l *Link) error {
	ctx, cancel := context.WithTimeout(ctx, reservationTimeout)
	defer cancel()
	reservation, err := client.Reserve(network.WithNoDial(ctx, "place at a hub"), c.Host, peer.AddrInfo{ID: l.ID})
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

// reserved records whether the node has a reservation, so that peers can reach it through the hub.
func (c *Client) reserved(l *Link, got bool) {
	if l.reservation.Swap(got) != got {
		c.Log.Info("reachable through a hub", "peer", l.ID, "now", got)
		c.Changed()
	}
}
