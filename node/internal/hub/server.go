// Package hub has the server of a hub, and the node's side of its connection to a hub. A Server
// introduces the nodes of a task to each other and relays connections between them. A node has a
// Link to each of its hubs, through which peers can reach it.
package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/node/internal/peers"
)

// DefaultListen returns the addresses that a hub listens on by default. The port is fixed, since
// users pass the hub's address on to others.
func DefaultListen() []string {
	return []string{
		"/ip4/0.0.0.0/udp/4001/quic-v1",
		"/ip4/0.0.0.0/tcp/4001",
		"/ip6/::/udp/4001/quic-v1",
		"/ip6/::/tcp/4001",
	}
}

// Config has the settings of a Server.
type Config struct {
	Key     crypto.PrivKey
	Listen  []string
	Allow   []peer.ID // the allow list; nil: all nodes may use the hub
	Log     *slog.Logger
	NewHost func(nethost.Config) (host.Host, error)
}

// Server is a hub's host with its services.
type Server struct {
	host         host.Host
	policy       *peers.Policy
	log          *slog.Logger
	relay        *relay.Relay
	stopRelaying context.CancelFunc
	rendezvous   *access.Limiter
	traffic      nethost.Traffic
}

// Start creates the host and starts the services. After an error nothing remains open.
func Start(c Config) (s *Server, err error) {
	self, err := peer.IDFromPrivateKey(c.Key)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	resources, err := nethost.NewResources(maxPerAddress, limits())
	if err != nil {
		return nil, err
	}
	s = &Server{
		policy: access.NewPolicy(peers.Config{Self: self, Listed: c.Allow}), log: c.Log,
		rendezvous: access.NewSmallLimiter("fbo.meet", rendezvousTimeout),
	}
	s.policy.LimitReservations(maxReservations)
	s.host, err = c.NewHost(nethost.Config{
		Key: c.Key, Listen: c.Listen, Traffic: &s.traffic, Connections: maxConnections * 3 / 4,
		Gate: &access.Gate{Policy: s.policy}, Options: []libp2p.Option{libp2p.ResourceManager(resources)},
	})
	if err != nil {
		return nil, err
	}
	if err := s.serve(); err != nil {
		return nil, errors.Join(err, s.host.Close())
	}
	return s, nil
}

func (s *Server) serve() (err error) {
	access.Follow(s.policy, s.host.Network())
	s.host.SetStreamHandler(rendezvousProtocol, s.serveRendezvous)
	var relaying context.Context
	relaying, s.stopRelaying = context.WithCancel(context.Background())
	s.relay, err = relay.New(relayHost{s.host, newRelayRates(relaying, s.policy.Named)},
		relay.WithResources(relay.Resources{
			ReservationTTL:        reservationTTL,
			MaxReservations:       maxConnections, // AllowReserve has a lower limit
			MaxReservationsPerIP:  maxPerAddress,
			MaxReservationsPerASN: maxConnections,
			MaxCircuits:           maxCircuitsOfNode,
			BufferSize:            4096,
		}),
		relay.WithInfiniteLimits(),
		relay.WithACL(s),
		relay.WithReservationAddressFilter(func(multiaddr.Multiaddr) bool { return true }), // also private addresses, since a hub may serve a private network
	)
	if err != nil {
		s.stopRelaying()
		return fmt.Errorf("relay service: %w", err)
	}
	return nil
}

// Host returns the hub's host.
func (s *Server) Host() host.Host { return s.host }

// Policy returns the hub's policy.
func (s *Server) Policy() *peers.Policy { return s.policy }

// Close stops the services and closes the host.
func (s *Server) Close() error {
	s.stopRelaying()
	return errors.Join(s.relay.Close(), s.host.Close())
}
