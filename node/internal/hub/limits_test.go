package hub

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/nethost"
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
		"a node's, through a hub": {nethost.MaxConnections, rcmgr.PartialLimitConfig{}, circuit},
		"a hub's, from a NAT":     {maxPerAddress, limits(), direct},
	} {
		resources, err := nethost.NewResources(c.perAddress, c.limits)
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

// TestDocumentedLimits compares the numbers of a hub in docs/network.md with those of the program.
func TestDocumentedLimits(t *testing.T) {
	text, err := os.ReadFile("../../../docs/network.md")
	if err != nil {
		t.Fatal(err)
	}
	number := func(n int) string { // as 4,096
		if n < 1000 {
			return strconv.Itoa(n)
		}
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	for _, want := range []string{
		fmt.Sprintf("| connections | %s; above %d, those", number(maxConnections), maxConnections*3/4),
		fmt.Sprintf("| from one IP address (IPv6: one /56) | %d connections, %d places, and %d new connections a second after %d at once; of one IPv6 /48 %d connections |",
			maxPerAddress, maxPerAddress, nethost.ConnectionRate, maxPerAddress, 4*maxPerAddress),
		fmt.Sprintf("| %d; a place lasts an hour and is renewed every %d minutes.", maxReservations, reservationRenewal/time.Minute),
		fmt.Sprintf("| relayed connections | %s; %d of one node |", number(maxCircuits), maxCircuitsOfNode),
		fmt.Sprintf("| %d MiB a second that an address (IPv6: one /56) sends, %d MiB at once;", relayByteRate>>20, relayByteBurst>>20),
		fmt.Sprintf("| %d MiB, of that %d MiB for relaying |", memory>>20, relayMemory>>20),
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("docs/network.md lacks %q", want)
		}
	}
}
