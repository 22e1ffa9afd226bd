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

// Expect counts a configured peer or hub that KeepConnected dials next: until it has, the first design
// waits for peers.
func (n *Network) Expect() { n.untried.Add(1) }

// KeepConnected dials a configured peer or hub and, since libp2p does not, dials it again whenever the
// connection is lost.
func (n *Network) KeepConnected(ctx context.Context, what string, target peer.AddrInfo) {
	pause := nethost.ShortestPause
	tried := sync.OnceFunc(func() { n.untried.Add(-1) })
	defer tried()
	warned, unseen := false, false // unseen: the last dial succeeded, and the connection was not seen since
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

// Dial connects to a peer.
func (n *Network) Dial(ctx context.Context, target peer.AddrInfo) error {
	ctx, cancel := context.WithTimeout(ctx, peers.DialTimeout)
	defer cancel()
	return n.Host.Connect(ctx, target)
}

// dialAgain is Dial for callers that pause between attempts themselves, without libp2p's pause.
func (n *Network) dialAgain(ctx context.Context, target peer.AddrInfo) error {
	if s, ok := n.Host.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(target.ID)
	}
	return n.Dial(ctx, target)
}

// errClosedAtOnce is the effect of an allow list: the handshake succeeds, and then the other side
// ends the connection.
var errClosedAtOnce = errors.New("it closes every connection at once (has it an allow list without this node?)")

// dialForGood is dialAgain, and fails when the connection made before did not last either.
func (n *Network) dialForGood(ctx context.Context, target peer.AddrInfo, unseen bool) error {
	err := n.dialAgain(ctx, target)
	if err == nil && unseen {
		return errClosedAtOnce
	}
	return err
}
