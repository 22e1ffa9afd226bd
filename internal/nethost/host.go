// Package nethost creates the libp2p hosts of nodes, hubs and probes.
package nethost

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/metrics"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	connections "github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/internal/sanitize"
)

// DefaultListen returns the default listen addresses of a node: any free port on every interface,
// by QUIC and TCP.
func DefaultListen() []string {
	return []string{
		"/ip4/0.0.0.0/udp/0/quic-v1",
		"/ip4/0.0.0.0/tcp/0",
		"/ip6/::/udp/0/quic-v1",
		"/ip6/::/tcp/0",
	}
}

// MaxConnections is the maximum number of connections that a node keeps.
const MaxConnections = 64

// Config holds the settings in which hosts differ.
type Config struct {
	Key         crypto.PrivKey
	Listen      []string
	Traffic     metrics.Reporter
	Connections int                     // maximum number of connections; above it, the least valuable ones are closed
	Gate        connmgr.ConnectionGater // nil: all connections are allowed
	Relayed     bool                    // the host can use hubs to reach peers and, once it listens on /p2p-circuit, to be reached
	Options     []libp2p.Option
}

// New creates a host and starts to listen.
func New(c Config) (host.Host, error) {
	addresses, err := peeraddr.ParseListen(c.Listen)
	if err != nil {
		return nil, err
	}
	manager, err := connections.NewConnManager(c.Connections*3/4, c.Connections, connections.WithGracePeriod(time.Minute))
	if err != nil {
		return nil, fmt.Errorf("connection manager: %w", err)
	}
	options := []libp2p.Option{
		libp2p.Identity(c.Key),
		libp2p.NoListenAddrs, // Listen is called below, because libp2p does not close a host that fails to listen at its creation
		libp2p.Transport(libp2pquic.NewTransport),
		libp2p.Transport(tcp.NewTCPTransport),
		libp2p.ConnectionManager(manager),
		libp2p.BandwidthReporter(c.Traffic),
		libp2p.UserAgent("fbo-node"),
		libp2p.DisableMetrics(), // all nodes of a process would share libp2p's metrics
	}
	if c.Gate != nil {
		options = append(options, libp2p.ConnectionGater(c.Gate))
	}
	if c.Relayed {
		options = append(options, libp2p.EnableRelay(), libp2p.EnableHolePunching(), libp2p.SwarmOpts(swarm.WithDialRanker(directFirst)))
	} else {
		options = append(options, libp2p.DisableRelay())
	}
	h, err := libp2p.New(append(options, c.Options...)...)
	if err != nil {
		return nil, fmt.Errorf("start the network: %w", err)
	}
	if err := h.Network().Listen(addresses...); err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %v: %w", c.Listen, err), h.Close())
	}
	return h, nil
}

// directFirst delays dials to a peer's relayed addresses by half a second. libp2p itself does so
// only if another address is public.
func directFirst(addresses []multiaddr.Multiaddr) []network.AddrDelay {
	ranked := swarm.DefaultDialRanker(addresses)
	through := func(a network.AddrDelay) bool {
		_, err := a.Addr.ValueForProtocol(multiaddr.P_CIRCUIT)
		return err == nil
	}
	if !slices.ContainsFunc(ranked, func(a network.AddrDelay) bool { return !through(a) }) {
		return ranked
	}
	for i, a := range ranked {
		if through(a) {
			ranked[i].Delay = max(a.Delay, swarm.RelayDelay)
		}
	}
	return ranked
}

// FullAddresses returns the addresses of a host, each with the host's ID. It returns none if the
// host is nil.
func FullAddresses(h host.Host) []string {
	if h == nil {
		return nil
	}
	addresses, err := peer.AddrInfoToP2pAddrs(&peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()})
	if err != nil {
		return nil // cannot happen: a host's own addresses are valid
	}
	texts := make([]string, len(addresses))
	for i, address := range addresses {
		texts[i] = address.String()
	}
	return texts
}

// Limits of the pause between attempts to reach a configured peer, or to get a reservation at a
// hub.
const (
	ShortestPause = time.Second
	LongestPause  = 30 * time.Second
)

// MaxReason is the maximum number of characters of a displayed error that may quote a peer.
const MaxReason = 2000

// DialReason returns libp2p's report of several lines as one line, without the repeated parts. It
// leaves out addresses that this node itself did not dial yet, for its limits, if others have a
// reason.
func DialReason(err error) string {
	if failed := new(swarm.DialError); errors.As(err, &failed) {
		dialled := *failed
		dialled.DialErrors = slices.DeleteFunc(slices.Clone(failed.DialErrors), func(e swarm.TransportError) bool {
			return errors.Is(e.Cause, swarm.ErrGaterDisallowedConnection)
		})
		if len(dialled.DialErrors) > 0 {
			err = &dialled
		}
	}
	_, tries, found := strings.Cut(err.Error(), "all dials failed")
	if !found {
		tries = err.Error()
	}
	return sanitize.Text(strings.Join(strings.Fields(strings.ReplaceAll(tries, "* ", "")), " "), MaxReason)
}
