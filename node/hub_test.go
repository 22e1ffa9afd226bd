package node_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/node"
)

// startHub starts a hub on loopback; address is that of an earlier one, to take
// its place.
func startHub(t *testing.T, h *node.Hub) string {
	t.Helper()
	if h.Dir == "" {
		h.Dir = t.TempDir()
	}
	if h.Listen == nil {
		h.Listen = []string{"/ip4/127.0.0.1/tcp/0"}
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error("Close:", err)
		}
	})
	return h.Addresses()[0]
}

// through is a node that can dial nobody but the hub.
func through(t *testing.T, address string, peers ...string) *node.Node {
	t.Helper()
	hubs, err := node.ParseHubs([]string{address})
	if err != nil {
		t.Fatal(err)
	}
	n := &node.Node{Hubs: []string{address}, Peers: peers}
	n.Bar(func(id peer.ID, a multiaddr.Multiaddr) bool {
		return id != hubs[0].ID && !strings.Contains(a.String(), "/p2p-circuit")
	})
	return n
}

// relayedAddress waits for the address of a node that leads through its hub.
func relayedAddress(t *testing.T, m *member) (address string) {
	t.Helper()
	eventually(t, "a place at the hub", func() bool {
		addresses := m.node.Addresses()
		i := slices.IndexFunc(addresses, func(a string) bool { return strings.Contains(a, "/p2p-circuit") })
		if i < 0 {
			return false
		}
		address = addresses[i]
		return true
	})
	return address
}

// path is how a member is connected to another, empty when it is not.
func path(t *testing.T, m, other *member) string {
	t.Helper()
	for _, link := range statusOf(t, m.session).Peers {
		if link.ID == other.node.ID() {
			return link.Path
		}
	}
	return ""
}

// exchange waits until each of two members has got a new share of the other.
func exchange(t *testing.T, a, b *member) time.Duration {
	t.Helper()
	began := time.Now()
	for _, pair := range [][2]*member{{a, b}, {b, a}} {
		from, to := pair[0], pair[1]
		before := to.heard(from)
		from.evaluateUntil(t, "a share", func() bool { return to.heard(from) > before })
	}
	return time.Since(began)
}

func TestNodesExchangeSharesThroughAHub(t *testing.T) {
	t.Parallel()
	hub := startHub(t, &node.Hub{})
	a := listen(t, through(t, hub))
	b := listen(t, through(t, hub, relayedAddress(t, a)))
	t.Logf("shares both ways after %v", exchange(t, a, b))
	for _, pair := range [][2]*member{{a, b}, {b, a}} {
		if got := path(t, pair[0], pair[1]); got != node.Relayed {
			t.Errorf("the path is %q", got)
		}
		hubs := statusOf(t, pair[0].session).Hubs
		if len(hubs) != 1 || !hubs[0].Connected || !hubs[0].Reachable {
			t.Errorf("hubs %+v", hubs)
		}
	}
}

// A node that could be reached directly all along is, once it is tried.
func TestADirectConnectionReplacesARelayedOne(t *testing.T) {
	t.Parallel()
	hub := startHub(t, &node.Hub{})
	a := listen(t, through(t, hub))
	b := listen(t, &node.Node{Hubs: []string{hub}, Peers: []string{relayedAddress(t, a)}})
	exchange(t, a, b)
	if got := path(t, b, a); got != node.Relayed {
		t.Fatalf("the path is %q", got)
	}
	eventually(t, "a direct path, for both", func() bool { return path(t, a, b) == node.Direct && path(t, b, a) == node.Direct })
	eventually(t, "the end of the relayed connection", func() bool {
		return len(b.node.Network().Network().ConnsToPeer(a.node.ID())) == 1
	})
	exchange(t, a, b)
}

func TestHubMistakes(t *testing.T) {
	t.Parallel()
	if err := (&node.Hub{}).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "Hub.Dir is missing") {
		t.Error(err)
	}
	if err := (&node.Hub{Dir: t.TempDir(), Listen: []string{"here"}}).Start(t.Context()); err == nil || !strings.Contains(err.Error(), `listen address "here"`) {
		t.Error(err)
	}
	circuit := "/ip4/192.0.2.7/tcp/4001/p2p/" + anID + "/p2p-circuit/p2p/" + anotherID
	if _, err := node.ParseHubs([]string{circuit}); err == nil || !strings.Contains(err.Error(), "it is a relayed one") {
		t.Error(err)
	}
	if _, err := node.ParseHubs([]string{"/ip4/192.0.2.7/tcp/4001"}); err == nil || !strings.Contains(err.Error(), "must end in /p2p/") {
		t.Error(err)
	}
}
