package node

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/multiformats/go-multiaddr"
)

// All that a hub relays to a node comes from the hub's address, and all nodes
// behind one NAT come from that; libp2p's default is eight.
func TestConnectionsFromOneAddress(t *testing.T) {
	circuit := multiaddr.StringCast("/ip4/203.0.113.7/udp/4001/quic-v1/p2p/12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp/p2p-circuit")
	direct := multiaddr.StringCast("/ip4/203.0.113.7/udp/4001/quic-v1")
	for name, c := range map[string]struct {
		perAddress int
		limits     rcmgr.PartialLimitConfig
		from       multiaddr.Multiaddr
	}{
		"a node's, through a hub": {mostConnections, rcmgr.PartialLimitConfig{}, circuit},
		"a hub's, from a NAT":     {hubPerAddress, hubLimits(), direct},
	} {
		resources, err := newResources(c.perAddress, c.limits)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.perAddress + 1 {
			scope, err := resources.OpenConnection(network.DirInbound, false, c.from)
			if (err == nil) != (i < c.perAddress) {
				t.Errorf("%s: connection %d: %v", name, i+1, err)
				break
			}
			if err == nil { // else it would count as one whose handshake is under way
				if err := scope.SetPeer(peer.ID(fmt.Sprint("peer ", i))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := resources.Close(); err != nil {
			t.Error(err)
		}
	}
}
