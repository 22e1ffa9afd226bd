package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/strategy"
)

// Limits of a hub. A relayed connection itself has none, neither of bytes nor of
// time: libp2p calls connections with such limits limited, and gossip does not
// use them.
const (
	hubConnections    = 1024      // at the same time; from three quarters on, the least useful are closed
	hubPerAddress     = 64        // of them, and of places, from one IP address (IPv6: from one /56)
	hubReservations   = 256       // nodes that others reach through the hub
	hubReservationTTL = time.Hour // unless the node renews it
	hubCircuits       = 2048      // relayed connections
	hubCircuitsOfNode = 64        // of them, of one node
	hubRelayMemory    = 64 << 20
	hubMemory         = 512 << 20
)

// DefaultHubListen is where a hub listens unless told otherwise: a port that
// stays the same, since its address is given to others.
func DefaultHubListen() []string {
	return []string{
		"/ip4/0.0.0.0/udp/4001/quic-v1",
		"/ip4/0.0.0.0/tcp/4001",
		"/ip6/::/udp/4001/quic-v1",
		"/ip6/::/tcp/4001",
	}
}

// Hub introduces the nodes of a task to each other, and relays between those that
// cannot reach each other, for as long as they cannot. It takes part in no task but
// those that it keeps, and what it relays is encrypted end to end. Fields may be
// changed until Start.
type Hub struct {
	// Dir keeps the identity; it is made if missing. Required, and not that of a
	// node, which would be the same peer twice.
	Dir string

	// Listen holds the multiaddresses to listen on; default: DefaultHubListen.
	Listen []string

	// Allow, when it is not nil, holds the only nodes that may use the hub.
	Allow []peer.ID

	// Strategies are those that the tasks that the hub keeps may name, as Node.Strategies.
	// Only Keep needs them.
	Strategies strategy.Set

	// Log receives what helps to find a fault; default: nothing.
	Log *slog.Logger

	// OnWarning is told what the user should know about the tasks that the hub
	// keeps; default: nothing. It must not block.
	OnWarning func(message string)

	keeper       *Node // of the tasks that are kept; nil when there is none
	log          *slog.Logger
	host         host.Host
	relay        *relay.Relay
	stopRelaying context.CancelFunc
	policy       *peers.Policy
	rendezvous   *access.Limiter
	traffic      nethost.Traffic
	parts        *parts // Start sets it where it is nil
}

// Start opens the network. The context bounds the start only.
func (h *Hub) Start(ctx context.Context) (err error) {
	if ctx == nil {
		return needsContext("Hub.Start")
	}
	if h.host != nil {
		return errors.New("Hub.Start: already started")
	}
	if h.Dir == "" {
		return errors.New("Hub.Dir is missing: a hub needs a directory for its identity")
	}
	listen := h.Listen
	if len(listen) == 0 {
		listen = DefaultHubListen()
	}
	if _, err := peeraddr.ParseListen(listen); err != nil {
		return err
	}
	if err := datadir.Make(h.Dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	h.log, h.parts = limitedLogger(h.Log), cmp.Or(h.parts, newParts())
	h.rendezvous = access.NewSmallLimiter("fbo.meet", rendezvousTimeout)
	if err := h.open(listen); err != nil {
		return err
	}
	h.log.Info("hub started", "id", h.ID(), "addresses", h.Addresses())
	return ctx.Err()
}

func (h *Hub) open(listen []string) error {
	key, err := store.LoadIdentity(h.Dir)
	if err != nil {
		return err
	}
	self, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	h.log = h.log.With("hub", strategy.ShortID(self))
	resources, err := nethost.NewResources(hubPerAddress, hubLimits())
	if err != nil {
		return err
	}
	h.policy = access.NewPolicy(peers.Config{Self: self, Listed: h.Allow})
	h.policy.LimitReservations(hubReservations)
	h.host, err = h.parts.newHost(nethost.Config{
		Key: key, Listen: listen, Traffic: &h.traffic, Connections: hubConnections * 3 / 4,
		Gate: &access.Gate{Policy: h.policy}, Options: []libp2p.Option{libp2p.ResourceManager(resources)},
	})
	if err != nil {
		return err
	}
	access.Follow(h.policy, h.host.Network())
	h.host.SetStreamHandler(rendezvousProtocol, h.serveRendezvous)
	var relaying context.Context
	relaying, h.stopRelaying = context.WithCancel(context.Background())
	h.relay, err = relay.New(relayHost{h.host, newRelayRates(relaying, h.policy.Named)},
		relay.WithResources(relay.Resources{
			ReservationTTL:        hubReservationTTL,
			MaxReservations:       hubConnections, // AllowReserve allows fewer
			MaxReservationsPerIP:  hubPerAddress,
			MaxReservationsPerASN: hubConnections,
			MaxCircuits:           hubCircuitsOfNode,
			BufferSize:            4096,
		}),
		relay.WithInfiniteLimits(),
		relay.WithACL(h),
		relay.WithReservationAddressFilter(func(multiaddr.Multiaddr) bool { return true }), // a hub may serve a private network
	)
	if err != nil {
		h.stopRelaying()
		return fmt.Errorf("relay service: %w", err)
	}
	return nil
}

// ID returns the hub's peer ID; it is empty before Start.
func (h *Hub) ID() peer.ID { return idOf(h.host) }

// Addresses returns full multiaddresses of the hub's network interfaces, in the
// form that Node.Hubs takes. Behind a forwarded port the address that others use
// is not among them. Before Start there are none.
func (h *Hub) Addresses() []string { return nethost.FullAddresses(h.host) }

// Close ends the hub and with it all that it relays. It may be called more than
// once.
func (h *Hub) Close() error {
	var err error
	if h.keeper != nil {
		err = h.keeper.Close()
		h.keeper = nil
	}
	if h.relay != nil {
		h.stopRelaying()
		err = errors.Join(err, h.relay.Close())
		h.relay = nil
	}
	if h.host != nil {
		err = errors.Join(err, h.host.Close())
		h.host = nil
		logOmitted(h.log)
	}
	return err
}
