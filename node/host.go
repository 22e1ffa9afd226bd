package node

import (
	"context"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
)

const mdnsService = "_fbo._udp"

// discovered connects to the nodes that mDNS finds on the local network.
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
		if err := d.node.network.Dial(d.ctx, found); err != nil {
			d.node.log.Debug("peer found on the local network cannot be reached", "peer", found.ID, "error", err)
		}
	})
}
