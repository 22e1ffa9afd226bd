package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/metrics"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node/internal/peers"
)

// DefaultListen is where a node listens unless told otherwise: any free port of
// every interface, by QUIC and TCP.
func DefaultListen() []string {
	return []string{
		"/ip4/0.0.0.0/udp/0/quic-v1",
		"/ip4/0.0.0.0/tcp/0",
		"/ip6/::/udp/0/quic-v1",
		"/ip6/::/tcp/0",
	}
}

// CheckListen returns the error that Start would return for addresses that
// cannot be read. Whether they can be listened on, only Start can tell.
func CheckListen(addresses []string) error {
	_, err := readListen(addresses)
	return err
}

func readListen(texts []string) ([]multiaddr.Multiaddr, error) {
	var addresses []multiaddr.Multiaddr
	for _, text := range texts {
		address, err := multiaddr.NewMultiaddr(text)
		if err != nil {
			return nil, fmt.Errorf("listen address %q: %w (accepted: such as /ip4/0.0.0.0/udp/4001/quic-v1)", text, err)
		}
		addresses = append(addresses, address)
	}
	return addresses, nil
}

const (
	maxConnections = 64
	mdnsService    = "_fbo._udp"
)

// hostConfig is what hosts differ in.
type hostConfig struct {
	key         crypto.PrivKey
	listen      []string
	traffic     metrics.Reporter
	connections int // beyond which the least useful are closed
	gate        *gate
	relayed     bool // also reaches and is reached through hubs
	options     []libp2p.Option
}

func newHost(c hostConfig) (host.Host, error) {
	addresses, err := readListen(c.listen)
	if err != nil {
		return nil, err
	}
	connections, err := connmgr.NewConnManager(c.connections*3/4, c.connections, connmgr.WithGracePeriod(time.Minute))
	if err != nil {
		return nil, fmt.Errorf("connection manager: %w", err)
	}
	options := []libp2p.Option{
		libp2p.Identity(c.key),
		libp2p.NoListenAddrs, // a host that cannot listen as it starts is never closed by libp2p
		libp2p.Transport(libp2pquic.NewTransport),
		libp2p.Transport(tcp.NewTCPTransport),
		libp2p.ConnectionManager(connections),
		libp2p.BandwidthReporter(c.traffic),
		libp2p.ConnectionGater(c.gate),
		libp2p.UserAgent("fbo-node"),
		libp2p.DisableMetrics(), // libp2p's are shared by all nodes of a process
	}
	if c.relayed {
		options = append(options, libp2p.EnableRelay(), libp2p.EnableHolePunching(), libp2p.SwarmOpts(swarm.WithDialRanker(directFirst)))
		addresses = append(addresses, multiaddr.StringCast("/p2p-circuit"))
	} else {
		options = append(options, libp2p.DisableRelay())
	}
	h, err := libp2p.New(append(options, c.options...)...)
	if err != nil {
		return nil, fmt.Errorf("start the network: %w", err)
	}
	if err := h.Network().Listen(addresses...); err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %v: %w", c.listen, err), h.Close())
	}
	return h, nil
}

// ParsePeers reads addresses of the form /ip4/192.0.2.7/udp/4001/quic-v1/p2p/12D3Koo….
func ParsePeers(addresses []string) ([]peer.AddrInfo, error) {
	var list []multiaddr.Multiaddr
	for _, text := range addresses {
		address, err := multiaddr.NewMultiaddr(text)
		if err != nil {
			return nil, fmt.Errorf("peer address %q: %w (accepted: an address as the other node prints it, such as /ip4/192.0.2.7/udp/4001/quic-v1/p2p/12D3Koo…)", text, err)
		}
		if _, err := peer.AddrInfoFromP2pAddr(address); err != nil {
			return nil, fmt.Errorf("peer address %q: %w (it must end in /p2p/ and the peer's ID)", text, err)
		}
		list = append(list, address)
	}
	return peer.AddrInfosFromP2pAddrs(list...)
}

// Bounds of the pause between attempts to reach a configured peer.
const (
	shortestPause = time.Second
	longestPause  = 30 * time.Second

	maxReason = 2000 // characters of an error that may quote a peer
)

// keepConnected reaches a configured peer or hub and, since libp2p does not,
// reaches it again whenever the connection is lost.
func (n *Node) keepConnected(ctx context.Context, what string, target peer.AddrInfo) {
	pause := shortestPause
	tried := sync.OnceFunc(func() { n.untried.Add(-1) })
	defer tried()
	warned, unseen := false, false // unseen: the last dial went well and nothing came of it yet
	for ctx.Err() == nil {
		if n.host.Network().Connectedness(target.ID) == network.Connected {
			pause, warned, unseen = shortestPause, false, false
		} else if err := n.dialForGood(ctx, target, unseen); err != nil {
			if !warned && ctx.Err() == nil {
				n.warn(fmt.Sprintf("cannot reach %s %v at %v: %v; trying on", what, target.ID, target.Addrs, dialReason(err)))
				warned = true
			}
			pause = min(2*pause, longestPause)
		} else {
			n.log.Info("connected", what, target.ID)
			pause, unseen = shortestPause, true
		}
		tried()
		select {
		case <-ctx.Done():
		case <-time.After(n.policy.Jittered(pause)):
		}
	}
}

// dialReason puts libp2p's many-line report on one line, without the parts
// that say nothing new.
func dialReason(err error) string {
	_, tries, found := strings.Cut(err.Error(), "all dials failed")
	if !found {
		tries = err.Error()
	}
	return sanitize.Text(strings.Join(strings.Fields(strings.ReplaceAll(tries, "* ", "")), " "), maxReason)
}

func (n *Node) dial(ctx context.Context, target peer.AddrInfo) error {
	ctx, cancel := context.WithTimeout(ctx, peers.DialTimeout)
	defer cancel()
	return n.host.Connect(ctx, target)
}

// dialAgain is dial for those who pause between attempts themselves, so that
// libp2p need not.
func (n *Node) dialAgain(ctx context.Context, target peer.AddrInfo) error {
	if s, ok := n.host.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(target.ID)
	}
	return n.dial(ctx, target)
}

// errClosedAtOnce is the face of an allow list: the handshake succeeds, and then
// the other side ends the connection.
var errClosedAtOnce = errors.New("it closes every connection at once (has it an allow list without this node?)")

// dialForGood is dialAgain that fails when the connection made before did not
// last either.
func (n *Node) dialForGood(ctx context.Context, target peer.AddrInfo, unseen bool) error {
	err := n.dialAgain(ctx, target)
	if err == nil && unseen {
		return errClosedAtOnce
	}
	return err
}

// discovered connects to what mDNS finds on the local network.
type discovered struct {
	node *Node
	ctx  context.Context
}

var _ mdns.Notifee = discovered{}

func (d discovered) HandlePeerFound(found peer.AddrInfo) {
	if found.ID == d.node.host.ID() || !d.node.policy.MayConnect(found.ID) {
		return
	}
	d.node.background(func() {
		if err := d.node.dial(d.ctx, found); err != nil {
			d.node.log.Debug("peer found on the local network cannot be reached", "peer", found.ID, "error", err)
		}
	})
}
