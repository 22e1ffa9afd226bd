package access

import (
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/node/internal/peers"
)

// Gate refuses connections with banned peers and with peers that are not on the allow list. It
// refuses to dial peers that are not on the list. It closes all other such connections after the
// handshake, which proves the peer's identity. It also closes connections that other nodes than the
// hubs of this one relay to it.
type Gate struct {
	Policy  *peers.Policy
	MayDial func(time.Time, peer.ID, multiaddr.Multiaddr) bool // nil: dials are not limited
}

var _ connmgr.ConnectionGater = (*Gate)(nil)

func (g *Gate) InterceptPeerDial(id peer.ID) bool { return g.Policy.MayConnect(id) }

func (g *Gate) InterceptAddrDial(id peer.ID, address multiaddr.Multiaddr) bool {
	return g.MayDial == nil || g.MayDial(time.Now(), id, address)
}

// InterceptAccept allows every connection, because the peer's identity is unknown before the
// handshake.
func (g *Gate) InterceptAccept(network.ConnMultiaddrs) bool { return true }

func (g *Gate) InterceptSecured(direction network.Direction, id peer.ID, between network.ConnMultiaddrs) bool {
	if direction == network.DirInbound && !g.Policy.MayArriveAt(between.RemoteMultiaddr()) {
		return false
	}
	return g.Policy.MayConnect(id) && !g.Policy.Blocked(time.Now(), id, between.RemoteMultiaddr())
}

func (g *Gate) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }
