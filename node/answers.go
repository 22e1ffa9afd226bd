package node

import (
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/dialbudget"
)

// noteAnswers makes the node remember at which addresses peers have answered.
func (n *Node) noteAnswers() {
	bundle := &network.NotifyBundle{ConnectedF: func(_ network.Network, c network.Conn) {
		if address := n.answeredAt(c); address != nil {
			n.attempts.Answered(c.RemotePeer(), address)
		}
	}}
	n.host.Network().Notify(bundle)
	n.onClose(func() error { n.host.Network().StopNotify(bundle); return nil })
}

// answeredAt is the address at which a connection shows that the peer can be reached; nil
// when it shows none, since the peer has made it.
func (n *Node) answeredAt(c network.Conn) multiaddr.Multiaddr {
	if relayed(c) {
		return n.throughHub(c.RemoteMultiaddr())
	}
	if c.Stat().Direction == network.DirOutbound {
		return c.RemoteMultiaddr()
	}
	return nil
}

// throughHub is a relayed address through one of the node's own hubs in its shortest
// form, which says nothing of how the hub is reached: the user has said that. It is nil for
// all others.
func (n *Node) throughHub(address multiaddr.Multiaddr) multiaddr.Multiaddr {
	if !isCircuit(address) {
		return nil
	}
	relay, err := address.ValueForProtocol(multiaddr.P_P2P) // the first
	if err != nil {
		return nil
	}
	for _, h := range n.hubs {
		if h.ID.String() == relay {
			return circuitThrough(h.ID)
		}
	}
	return nil
}

func circuitThrough(id peer.ID) multiaddr.Multiaddr {
	return multiaddr.StringCast("/p2p/" + id.String() + "/p2p-circuit")
}

const maxTried = 8 // addresses of a record

// worthTrying is what of the addresses in a record is tried, when it was told by somebody
// who is reached at an address of this scope: no private addresses from a public one, and
// no host names, which a peer could make others look up.
func (n *Node) worthTrying(addresses []multiaddr.Multiaddr, sentTo dialbudget.Scope) []multiaddr.Multiaddr {
	var kept []multiaddr.Multiaddr
	for _, address := range addresses {
		if through := n.throughHub(address); through != nil {
			address = through
		} else if _, ok := dialbudget.IP(address); !ok || dialbudget.ScopeOf(address) < sentTo {
			continue
		}
		if !multiaddr.Contains(kept, address) {
			kept = append(kept, address)
		}
	}
	return kept[:min(len(kept), maxTried)]
}

// learn takes in a record that came over a connection.
func (t *topic) learn(sealed []byte, by network.Conn) error {
	return t.members.learn(sealed, by.RemotePeer(), dialbudget.ScopeOf(by.RemoteMultiaddr()))
}
