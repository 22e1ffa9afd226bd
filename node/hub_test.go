package node_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/node"
	wire "github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// startHub starts a hub on loopback and returns its address.
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
func through(t *testing.T, address string) *node.Node {
	t.Helper()
	return throughUntil(t, address, &atomic.Bool{})
}

// throughUntil is a node that can dial nobody but the hub until it is free.
func throughUntil(t *testing.T, address string, free *atomic.Bool) *node.Node {
	t.Helper()
	hubs, err := peeraddr.ParseHubs([]string{address})
	if err != nil {
		t.Fatal(err)
	}
	n := &node.Node{Strategies: all.Strategies(), Hubs: []string{address}}
	n.Bar(func(id peer.ID, a multiaddr.Multiaddr) bool {
		return !free.Load() && id != hubs[0].ID && !strings.Contains(a.String(), "/p2p-circuit")
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
		before := to.received(from)
		from.evaluateUntil(t, "a share", func() bool { return to.received(from) > before })
	}
	return time.Since(began)
}

// Two nodes that reach nobody but the hub, and know nothing else, exchange shares
// through it, and do so again after it was away.
func TestNodesExchangeSharesThroughAHub(t *testing.T) {
	t.Parallel()
	h := &node.Hub{Strategies: all.Strategies(), Dir: t.TempDir()}
	hub := startHub(t, h)
	began := time.Now()
	a, b := listen(t, through(t, hub)), listen(t, through(t, hub))
	eventually(t, "a path", func() bool { return path(t, a, b) != "" && path(t, b, a) != "" })
	t.Logf("connected after %v", time.Since(began))
	t.Logf("shares both ways took %v", exchange(t, a, b))
	for _, pair := range [][2]*member{{a, b}, {b, a}} {
		if got := path(t, pair[0], pair[1]); got != node.Relayed {
			t.Errorf("the path is %q", got)
		}
		hubs := statusOf(t, pair[0].session).Hubs
		if len(hubs) != 1 || !hubs[0].Connected || !hubs[0].Reachable {
			t.Errorf("hubs %+v", hubs)
		}
	}

	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of what was relayed", func() bool {
		hubs := statusOf(t, a.session).Hubs
		return path(t, a, b) == "" && path(t, b, a) == "" && !hubs[0].Connected && !hubs[0].Reachable
	})
	time.Sleep(2 * time.Second)
	began = time.Now()
	startHub(t, &node.Hub{Strategies: all.Strategies(), Dir: h.Dir, Listen: []string{strings.Split(hub, "/p2p/")[0]}})
	eventually(t, "a path after the hub's return", func() bool { return path(t, a, b) != "" && path(t, b, a) != "" })
	exchange(t, a, b)
	t.Logf("shares both ways again %v after the hub's return", time.Since(began))
}

// Nodes that know only the hub, and could reach each other, do.
func TestAHubIntroduces(t *testing.T) {
	t.Parallel()
	h := &node.Hub{Strategies: all.Strategies()}
	hub := startHub(t, h)
	began := time.Now()
	a, b, c := listen(t, &node.Node{Strategies: all.Strategies(), Hubs: []string{hub}}), listen(t, &node.Node{Strategies: all.Strategies(), Hubs: []string{hub}}), listen(t, &node.Node{Strategies: all.Strategies(), Hubs: []string{hub}})
	all := []*member{a, b, c}
	eventually(t, "direct paths between all", func() bool {
		for _, m := range all {
			for _, other := range all {
				if m != other && path(t, m, other) != node.Direct {
					return false
				}
			}
		}
		return true
	})
	t.Logf("all connected directly after %v", time.Since(began))
	exchange(t, a, b)
	exchange(t, b, c)
	if got := h.Registrations(); got != len(all) {
		t.Errorf("%d registrations, want %d", got, len(all))
	}
	if err := c.node.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the hub forgetting who has left", func() bool { return h.Registrations() == len(all)-1 })
}

// Who may use a hub, who may use a node behind it, and for what.
func TestWhomAHubRelaysTo(t *testing.T) {
	t.Parallel()
	hub := startHub(t, &node.Hub{Strategies: all.Strategies()})
	a := listen(t, through(t, hub))
	closed := through(t, hub)
	closed.Allow = []peer.ID{a.node.ID()} // the hub need not be listed
	b := listen(t, closed)
	exchange(t, a, b)

	stranger := listen(t, through(t, hub))
	address, err := peeraddr.ParsePeers([]string{relayedAddress(t, b)})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the stranger's acquaintance with the open node", func() bool { return path(t, stranger, a) != "" })
	_ = stranger.node.Network().Connect(t.Context(), address[0])
	eventually(t, "the stranger's disconnection", func() bool {
		return stranger.node.Network().Network().Connectedness(b.node.ID()) != network.Connected
	})

	elsewhere := through(t, hub) // joins no task
	elsewhere.Dir, elsewhere.Listen = t.TempDir(), loopbackAddresses()
	if err := elsewhere.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	address, err = peeraddr.ParsePeers([]string{relayedAddress(t, a)})
	if err != nil {
		t.Fatal(err)
	}
	if err := elsewhere.Network().Connect(t.Context(), address[0]); err == nil || !strings.Contains(err.Error(), "PERMISSION_DENIED") {
		t.Errorf("a node without a common task is relayed: %v", err)
	}

	private := startHub(t, &node.Hub{Strategies: all.Strategies(), Allow: []peer.ID{a.node.ID()}})
	info, err := peeraddr.ParseHubs([]string{private})
	if err != nil {
		t.Fatal(err)
	}
	_ = stranger.node.Network().Connect(t.Context(), peer.AddrInfo{ID: info[0].ID, Addrs: info[0].Addrs})
	eventually(t, "the hub's refusal", func() bool {
		return stranger.node.Network().Network().Connectedness(info[0].ID) != network.Connected
	})
}

// Whoever hands in garbage, or others' records, is disconnected.
func TestMisconductAtAHub(t *testing.T) {
	t.Parallel()
	info, err := peeraddr.ParseHubs([]string{startHub(t, &node.Hub{Strategies: all.Strategies()})})
	if err != nil {
		t.Fatal(err)
	}
	other, err := libp2p.New(libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	record, _ := peerstore.GetCertifiedAddrBook(other.Peerstore())
	foreign, err := record.GetPeerRecord(other.ID()).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var request bytes.Buffer
	if err := wire.WriteRendezvousRequest(&request, wire.RendezvousRequest{Task: parse(t, bowl).ID(), PeerRecord: foreign}); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"garbage": {3, 0xff, 0xff, 0xff}, "a record of another": request.Bytes()} {
		h, err := libp2p.New(libp2p.NoListenAddrs, libp2p.DisableMetrics())
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		if err := h.Connect(t.Context(), info[0]); err != nil {
			t.Fatal(err)
		}
		eventually(t, name+" being disconnected", func() bool {
			if stream, err := h.NewStream(network.WithNoDial(t.Context(), "test"), info[0].ID, "/fbo/rendezvous/1"); err == nil {
				_, _ = stream.Write(data)
				_ = stream.CloseWrite()
				_, _ = stream.Read(make([]byte, 1))
				_ = stream.Reset()
			}
			return h.Network().Connectedness(info[0].ID) != network.Connected
		})
	}
}

// What keeps two nodes apart may end.
func TestADirectConnectionReplacesARelayedOne(t *testing.T) {
	t.Parallel()
	hub := startHub(t, &node.Hub{Strategies: all.Strategies()})
	a := listen(t, through(t, hub))
	var free atomic.Bool
	b := listen(t, throughUntil(t, hub, &free))
	exchange(t, a, b)
	if got := path(t, b, a); got != node.Relayed {
		t.Fatalf("the path is %q", got)
	}
	free.Store(true)
	began := time.Now()
	eventually(t, "a direct path, for both", func() bool { return path(t, a, b) == node.Direct && path(t, b, a) == node.Direct })
	eventually(t, "the end of the relayed connection", func() bool {
		return len(b.node.Network().Network().ConnsToPeer(a.node.ID())) == 1
	})
	t.Logf("the relay left %v after a direct path was free", time.Since(began))
	exchange(t, a, b)
}

// A hub keeps a task of a strategy that only its own program knows.
func TestHubKeepsAnOwnStrategy(t *testing.T) {
	t.Parallel()
	fts, ok := all.Strategies().Named("fts")
	if !ok {
		t.Fatal("no fts")
	}
	fts.Name = "own-strategy"
	strategies := append(all.Strategies(), fts)
	spec, err := strategies.Parse("task.yaml", []byte(`
name: own
goal: minimize
parameters:
  - {name: x, type: float, low: 0, high: 1}
strategy: {type: own-strategy}`))
	if err != nil {
		t.Fatal(err)
	}
	h := &node.Hub{Strategies: strategies}
	startHub(t, h)
	if _, err := h.Keep(t.Context(), spec); err != nil {
		t.Error(err)
	}
	plain := &node.Hub{Strategies: all.Strategies()}
	startHub(t, plain)
	var unknown *strategy.UnknownError
	if _, err := plain.Keep(t.Context(), spec); !errors.As(err, &unknown) || unknown.Type != "own-strategy" {
		t.Errorf("a hub without the strategy: %v", err)
	}
}

func TestHubMistakes(t *testing.T) {
	t.Parallel()
	if err := (&node.Hub{Strategies: all.Strategies()}).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "Hub.Dir is missing") {
		t.Error(err)
	}
	if err := (&node.Hub{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: []string{"here"}}).Start(t.Context()); err == nil || !strings.Contains(err.Error(), `listen address "here"`) {
		t.Error(err)
	}
}
