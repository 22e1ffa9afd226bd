package wire

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"

	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/node/internal/peers"
)

// Expect announces that KeepConnected will dial one more configured peer or hub. Until that dial
// has ended, the first design waits for peers.
func (n *Network) Expect() { n.untried.Add(1) }

// KeepConnected dials a configured peer or hub, and dials it again whenever the connection is lost,
// which libp2p does not do.
func (n *Network) KeepConnected(ctx context.Context, what string, target peer.AddrInfo) {
	pause := nethost.ShortestPause
	tried := sync.OnceFunc(func() { n.untried.Add(-1) })
	defer tried()
	warned, unseen := false, false // unseen: the last dial succeeded, but at the last check there was no connection
	for ctx.Err() == nil {
		if n.Host.Network().Connectedness(target.ID) == network.Connected {
			pause, warned, unseen = nethost.ShortestPause, false, false
		} else if err := n.dialForGood(ctx, target, unseen); err != nil {
			if !warned && ctx.Err() == nil {
				n.Warn(fmt.Sprintf("cannot reach %s %v at %v: %v; trying on", what, target.ID, target.Addrs, nethost.DialReason(err)))
				warned = true
			}
			pause = min(2*pause, nethost.LongestPause)
		} else {
			n.Log.Info("connected", what, target.ID)
			pause, unseen = nethost.ShortestPause, true
		}
		tried()
		select {
		case <-ctx.Done():
		case <-time.After(n.Policy.Jittered(pause)):
		}
	}
}

// Dial connects to a peer, within peers.DialTimeout.
func (n *Network) Dial(ctx context.Context, target peer.AddrInfo) error {
	ctx, cancel := context.WithTimeout(ctx, peers.DialTimeout)
	defer cancel()
	return n.Host.Connect(ctx, target)
}

// dialAgain is Dial without libp2p's backoff, for callers that pause between dials themselves.
func (n *Network) dialAgain(ctx context.Context, target peer.AddrInfo) error {
	if s, ok := n.Host.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(target.ID)
	}
	return n.Dial(ctx, target)
}

// errClosedAtOnce is the error for a peer that ends each connection right after the handshake, as a
// peer with an allow list does.
var errClosedAtOnce = errors.New("it closes every connection at once (has it an allow list without this node?)")

// dialForGood is dialAgain, but also fails if unseen is true: then the connection of the last dial
// ended at once.
func (n *Network) dialForGood(ctx context.Context, target peer.AddrInfo, unseen bool) error {
	err := n.dialAgain(ctx, target)
	if err == nil && unseen {
		return errClosedAtOnce
	}
	return err
}
