package node

import (
	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node/internal/hub"
)

func (n *Node) newHost(listen []string) (host.Host, error) {
	c := nethost.Config{
		Key: n.key, Listen: listen, Traffic: &n.traffic, Connections: n.room.connections, Gate: n.gate, Relayed: true,
		Options: []libp2p.Option{libp2p.AddrsFactory(func(own []multiaddr.Multiaddr) []multiaddr.Multiaddr { return hub.Advertise(n.contacts.hubs(), own) })},
	}
	resources, err := nethost.NewResources(n.room.connections, n.room.resources())
	if err != nil {
		return nil, err
	}
	c.Options = append(c.Options, libp2p.ResourceManager(resources))
	return n.parts.newHost(c)
}

// listen creates the host. Unless the user sets addresses, it reuses the ports of the last start if
// they are free.
func (n *Node) listen() (host.Host, error) {
	if len(n.Listen) > 0 {
		return n.newHost(n.Listen)
	}
	if last := store.LastListen(n.Dir); len(last) > 0 {
		if h, err := n.newHost(last); err == nil {
			return h, nil
		}
		n.log.Info("the ports of the last start are not free; taking others")
	}
	h, err := n.newHost(nethost.DefaultListen())
	if err != nil {
		return nil, err
	}
	var used []string
	for _, address := range h.Network().ListenAddresses() {
		if _, err := address.ValueForProtocol(multiaddr.P_CIRCUIT); err != nil { // an address with a circuit part belongs to a hub
			used = append(used, address.String())
		}
	}
	if err := n.store.WriteListen(used); err != nil {
		n.log.Warn("cannot keep the listening ports for the next start", "error", err)
	}
	return h, nil
}
