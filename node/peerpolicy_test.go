package node

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/strategy/all"
)

// ends are the addresses of a connection.
type ends struct{ remote string }

func (ends) LocalMultiaddr() multiaddr.Multiaddr    { return multiaddr.StringCast("/ip4/192.0.2.1/tcp/1") }
func (e ends) RemoteMultiaddr() multiaddr.Multiaddr { return multiaddr.StringCast(e.remote) }

// Who is banned, or comes from a banned range, gets no further than the handshake.
func TestBannedPeersAreRefusedAtTheHandshake(t *testing.T) {
	n := &Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	n.policy.Name("named")
	for _, id := range []peer.ID{"a", "b", "c"} {
		n.policy.Connected(time.Now(), id, string(id), multiaddr.StringCast("/ip4/203.0.113.7/tcp/1"), false)
		n.policy.Violated(time.Now(), id, peers.MaxViolations)
	}
	for _, c := range []struct {
		id   peer.ID
		from string
		want bool
	}{
		{"a", "/ip4/198.51.100.9/tcp/1", false},
		{"stranger", "/ip4/198.51.100.9/tcp/1", true},
		{"stranger", "/ip4/203.0.113.7/tcp/1", false},
		{"named", "/ip4/203.0.113.7/tcp/1", true},
	} {
		if got := n.gate.InterceptSecured(network.DirInbound, c.id, ends{c.from}); got != c.want {
			t.Errorf("%s from %s may connect: %v", c.id, c.from, got)
		}
	}
}
