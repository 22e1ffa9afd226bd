package node

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/dialbudget"
)

const (
	maxDialBacks    = 8 // at the same time
	dialBackTimeout = 5 * time.Second
	dialBackTries   = 3 // addresses
)

// minDialBackPause is when it is found out whether a peer that has come by itself answers at
// the addresses that it says it has: at once, and then ever more seldom.
var minDialBackPause = backoff{pause: 10 * time.Second}

// startDueDialBacks calls back those peers for which it is time.
func (t *topic) startDueDialBacks(now time.Time, peers []peer.ID) {
	for _, id := range peers {
		if addresses := t.members.dialBackAddresses(id, now); addresses != nil {
			t.running.Go(func() { t.dialBack(id, addresses) })
		}
	}
}

// dialBack finds out whether a peer that has come by itself answers at one of its
// addresses, by a handshake, since libp2p makes no second connection to a peer. Only who
// has answered is made known to others.
func (t *topic) dialBack(id peer.ID, addresses []multiaddr.Multiaddr) {
	select {
	case t.dialBacks <- struct{}{}:
		defer func() { <-t.dialBacks }()
	case <-t.ctx.Done():
		return
	}
	n := t.session.node
	network, ok := n.host.Network().(*swarm.Swarm)
	if !ok {
		return // a Host of the user's that dials in another way
	}
	elsewhere := func(a multiaddr.Multiaddr) int {
		ip, ok := dialbudget.IP(a)
		for _, c := range network.ConnsToPeer(id) {
			if from, known := dialbudget.IP(c.RemoteMultiaddr()); ok && known && from == ip {
				return 0
			}
		}
		return 1
	}
	addresses = slices.Clone(addresses)
	slices.SortStableFunc(addresses, func(a, b multiaddr.Multiaddr) int { return cmp.Compare(elsewhere(a), elsewhere(b)) })
	for _, address := range addresses[:min(len(addresses), dialBackTries)] {
		if _, direct := dialbudget.IP(address); !direct || isCircuit(address) {
			continue
		}
		if !n.gate.InterceptAddrDial(id, address) {
			t.members.dialBackSoon(id)
			return
		}
		if t.acceptsDial(network, id, address) {
			n.attempts.Answered(id, address)
			return
		}
	}
}

func (t *topic) acceptsDial(network *swarm.Swarm, id peer.ID, address multiaddr.Multiaddr) bool {
	ctx, cancel := context.WithTimeout(t.ctx, dialBackTimeout)
	defer cancel()
	transport := network.TransportForDialing(address)
	if transport == nil {
		return false
	}
	c, err := transport.Dial(ctx, address, id)
	if err != nil {
		return false
	}
	_ = c.Close() // it has served
	return true
}
