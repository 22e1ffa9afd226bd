package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"

	"github.com/fbo-node/fbo/internal/nethost"
)

const mdnsService = "_fbo._udp"

const dialTimeout = 10 * time.Second

// keepConnected reaches a configured peer or hub and, since libp2p does not,
// reaches it again whenever the connection is lost.
func (n *Node) keepConnected(ctx context.Context, what string, target peer.AddrInfo) {
	pause := nethost.ShortestPause
	tried := sync.OnceFunc(func() { n.untried.Add(-1) })
	defer tried()
	warned, unseen := false, false // unseen: the last dial went well and nothing came of it yet
	for ctx.Err() == nil {
		if n.host.Network().Connectedness(target.ID) == network.Connected {
			pause, warned, unseen = nethost.ShortestPause, false, false
		} else if err := n.dialForGood(ctx, target, unseen); err != nil {
			if !warned && ctx.Err() == nil {
				n.warn(fmt.Sprintf("cannot reach %s %v at %v: %v; trying on", what, target.ID, target.Addrs, nethost.DialReason(err)))
				warned = true
			}
			pause = min(2*pause, nethost.LongestPause)
		} else {
			n.log.Info("connected", what, target.ID)
			pause, unseen = nethost.ShortestPause, true
		}
		tried()
		select {
		case <-ctx.Done():
		case <-time.After(n.policy.Jittered(pause)):
		}
	}
}

func (n *Node) dial(ctx context.Context, target peer.AddrInfo) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
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
