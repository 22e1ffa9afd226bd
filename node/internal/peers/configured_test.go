package peers

import (
	"math/rand/v2"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/fbotest"
)

// A peer is named, and its dials are free, until the last reason to name it ends.
func TestConfiguredPeersAreCounted(t *testing.T) {
	address := multiaddr.StringCast("/ip4/192.0.2.7/tcp/4001")
	info := peer.AddrInfo{ID: "a", Addrs: []multiaddr.Multiaddr{address}}
	p := New(Config{Self: "self", Random: rand.NewPCG(1, 2)})
	free := func() bool { return p.attempts.isNamed(address) && p.attempts.namedOnes["a"] > 0 }
	p.Configure(info)
	p.Configure(info)
	p.Unconfigure(info)
	if !p.Named("a") || !free() {
		t.Error("one reason of two has ended, and the peer is not named")
	}
	p.Name("a")
	p.Unconfigure(info)
	if !p.Named("a") || free() {
		t.Error("the roster still names the peer, expected a name and limited dials")
	}
}

func TestOnlyOwnHubsRelay(t *testing.T) {
	var ids [2]peer.ID
	for i := range ids {
		var err error
		if ids[i], err = peer.IDFromPrivateKey(fbotest.Key(t, i)); err != nil {
			t.Fatal(err)
		}
	}
	hub, other := ids[0], ids[1]
	p := New(Config{Self: "self", Random: rand.NewPCG(1, 2)})
	through := func(id peer.ID) multiaddr.Multiaddr {
		return multiaddr.StringCast("/ip4/192.0.2.7/tcp/4001/p2p/" + id.String() + "/p2p-circuit")
	}
	p.AddHub(hub)
	if !p.MayArriveAt(through(hub)) || p.MayArriveAt(through(other)) || !p.MayArriveAt(multiaddr.StringCast("/ip4/192.0.2.7/tcp/4001")) {
		t.Error("expected direct connections, and relayed ones through the hub only")
	}
	p.RemoveHub(hub)
	if p.MayArriveAt(through(hub)) {
		t.Error("a hub that was removed relays")
	}
}
