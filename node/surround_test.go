package node_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	libp2pprotocol "github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/x/simlibp2p"
	"github.com/marcopolo/simnet"

	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy/all"
)

// onNetwork are the options that put a host on the simulated network.
func (f *fleet) onNetwork() []libp2p.Option {
	link := simnet.LinkSettings{BitsPerSecond: 20 * simlibp2p.OneMbps}
	return []libp2p.Option{
		simlibp2p.QUICSimnet(f.net, simnet.NodeBiDiLinkSettings{Downlink: link, Uplink: link}),
		libp2p.DisableIdentifyAddressDiscovery(), // stalls virtual time
		libp2p.DisableMetrics(),
	}
}

// honest starts a node with a host of its own, and so with the limits of real ones, in
// a range of addresses of its own.
func (f *fleet) honest(hubs []string, peers ...string) *simulated {
	f.t.Helper()
	f.started++
	s := &simulated{fleet: f, got: map[peer.ID]time.Time{}}
	s.node = &node.Node{Strategies: all.Strategies(), Dir: f.t.TempDir(), Listen: []string{fmt.Sprintf("/ip4/11.%d.0.1/udp/8000/quic-v1", f.started)}, Hubs: hubs, Peers: peers}
	s.node.Libp2p(f.onNetwork()...)
	if f.build != nil {
		f.build(s.node)
	}
	f.enter(s)
	return s
}

// enter starts a node and makes it join the task.
func (f *fleet) enter(s *simulated) {
	f.t.Helper()
	if err := s.node.Start(context.Background()); err != nil {
		f.t.Fatal(err)
	}
	s.host = s.node.Network()
	seed := uint64(f.started)
	var err error
	if s.session, err = s.node.Join(context.Background(), f.task, node.JoinOptions{Seed: &seed, OnEvent: s.note}); err != nil {
		f.t.Fatal(err)
	}
	f.nodes = append(f.nodes, s)
}

// siege is many identities of one attacker that come first, call every honest node
// and call again, tell of nobody but each other, and pass nothing on.
type siege struct {
	fleet   *fleet
	hosts   []host.Host
	records [][]byte
	targets atomic.Pointer[[]peer.AddrInfo]
	speaks  bool // they share what they make up
	hubs    []peer.AddrInfo
	cancel  context.CancelFunc
}

// besiege starts so many, each at the address that the function says.
func (f *fleet) besiege(count int, address func(int) string, speaks bool, hubs []string) *siege {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	known, err := peeraddr.ParseHubs(hubs)
	if err != nil {
		f.t.Fatal(err)
	}
	a := &siege{fleet: f, cancel: cancel, speaks: speaks, hubs: known}
	a.aimAt()
	for i := range count {
		h, err := libp2p.New(append(f.onNetwork(), libp2p.ListenAddrStrings(address(i)), libp2p.ResourceManager(&network.NullResourceManager{}))...)
		if err != nil {
			f.t.Fatal(err)
		}
		a.hosts = append(a.hosts, h)
		book, _ := peerstore.GetCertifiedAddrBook(h.Peerstore())
		sealed, err := book.GetPeerRecord(h.ID()).Marshal()
		if err != nil {
			f.t.Fatal(err)
		}
		a.records = append(a.records, sealed)
	}
	for i, h := range a.hosts {
		a.begin(ctx, i, h)
	}
	return a
}

func (a *siege) aimAt(nodes ...*simulated) {
	targets := []peer.AddrInfo{}
	for _, n := range nodes {
		targets = append(targets, peer.AddrInfo{ID: n.host.ID(), Addrs: n.host.Addrs()})
	}
	a.targets.Store(&targets)
}

func (a *siege) begin(ctx context.Context, index int, h host.Host) {
	t := a.fleet.t
	gossip, err := pubsub.NewGossipSub(ctx, h)
	if err != nil {
		t.Fatal(err)
	}
	name := "/fbo/task/1/" + a.fleet.task.ID().String()
	withhold := func(_ context.Context, from peer.ID, _ *pubsub.Message) pubsub.ValidationResult {
		if from == h.ID() {
			return pubsub.ValidationAccept
		}
		return pubsub.ValidationIgnore
	}
	if err := gossip.RegisterTopicValidator(name, withhold); err != nil {
		t.Fatal(err)
	}
	topic, err := gossip.Join(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := topic.Subscribe(); err != nil {
		t.Fatal(err)
	}
	sync := libp2pprotocol.ID("/fbo/sync/1/" + a.fleet.task.ID().String())
	h.SetStreamHandler(sync, func(s network.Stream) {
		defer s.Close()
		_ = s.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := protocol.ReadSyncRequest(s); err != nil {
			return
		}
		for _, sealed := range a.some(index) {
			_ = protocol.WriteSyncItem(s, protocol.SyncItem{PeerRecord: sealed})
		}
	})
	go func() {
		for n := uint64(1); ctx.Err() == nil; n++ {
			if a.speaks {
				_ = topic.Publish(ctx, a.share(h, n))
			}
			for _, hub := range a.hubs {
				if n%6 == 1 && h.Connect(ctx, hub) == nil {
					a.register(ctx, index, h, hub.ID)
				}
			}
			for _, target := range *a.targets.Load() {
				if h.Network().Connectedness(target.ID) == network.Connected {
					continue
				}
				if h.Connect(ctx, target) == nil {
					a.tell(ctx, index, h, target.ID, sync)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Second):
			}
		}
	}()
}

// some are records of accomplices.
func (a *siege) some(index int) [][]byte {
	var records [][]byte
	for i := range min(protocol.MaxRecords, len(a.records)) {
		records = append(records, a.records[(index+i)%len(a.records)])
	}
	return records
}

// tell makes a node learn of accomplices.
func (a *siege) tell(ctx context.Context, index int, h host.Host, id peer.ID, sync libp2pprotocol.ID) {
	s, err := h.NewStream(network.WithNoDial(ctx, "siege"), id, sync)
	if err != nil {
		return
	}
	_ = s.SetDeadline(time.Now().Add(10 * time.Second))
	_ = protocol.WriteSyncRequest(s, protocol.SyncRequest{PeerRecords: a.some(index)})
	_ = s.CloseWrite()
	_ = protocol.ReadSyncItems(s, func(protocol.SyncItem) error { return nil })
	_ = s.Close()
}

// register makes an attacker known at a hub.
func (a *siege) register(ctx context.Context, index int, h host.Host, hub peer.ID) {
	s, err := h.NewStream(network.WithNoDial(ctx, "siege"), hub, "/fbo/rendezvous/1")
	if err != nil {
		return
	}
	_ = s.SetDeadline(time.Now().Add(10 * time.Second))
	_ = protocol.WriteRendezvousRequest(s, protocol.RendezvousRequest{Task: a.fleet.task.ID(), PeerRecord: a.records[index]})
	_ = s.CloseWrite()
	_, _ = protocol.ReadRendezvousResponse(s)
	_ = s.Close()
}

// share is one that nobody can tell from an honest one.
func (a *siege) share(h host.Host, sequence uint64) []byte {
	share, err := protocol.Seal(protocol.Share{
		Task: a.fleet.task.ID(), Key: protocol.Key{Kind: protocol.WeightsKind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: sequence},
		TTL: time.Hour, Payload: weightsOf(16, 1),
	}, h.Peerstore().PrivKey(h.ID()))
	if err != nil {
		panic(err)
	}
	return share.Envelope
}

func (a *siege) end() {
	a.cancel()
	for _, h := range a.hosts {
		h.Close()
	}
}

func manyRanges(i int) string { return fmt.Sprintf("/ip4/12.%d.0.1/udp/8000/quic-v1", i+1) }

// apart counts the pairs of honest nodes without a connection.
func (f *fleet) apart() (pairs int) {
	for i, a := range f.nodes {
		for _, b := range f.nodes[:i] {
			if a.host.Network().Connectedness(b.host.ID()) != network.Connected {
				pairs++
			}
		}
	}
	return pairs
}

// besieged is a test of newcomers that were given the address of one node, which others with
// many identities surround.
type besieged struct {
	attackers int
	address   func(int) string
	speak     bool          // the attackers share what they make up
	hub       bool          // the newcomers know a hub and no node
	within    time.Duration // newcomers find each other
	stay      time.Duration // before the first node ends
	missing   float64       // of the shares, at most
}

// hub starts one on the network, which the caller closes.
func (f *fleet) hub() *node.Hub {
	f.t.Helper()
	h := &node.Hub{Strategies: all.Strategies(), Dir: f.t.TempDir(), Listen: []string{"/ip4/15.0.0.1/udp/8000/quic-v1"}}
	h.Libp2p(f.onNetwork()...)
	if err := h.Start(context.Background()); err != nil {
		f.t.Fatal(err)
	}
	return h
}

// The newcomers find each other, hear each other, and go on when that node ends.
func (b besieged) test(t *testing.T) {
	const newcomers = 5
	inSimulation(t, func(t *testing.T, f *fleet) {
		var hubs, known []string
		var end func()
		if b.hub {
			h := f.hub()
			end = func() { h.Close() }
			hubs = h.Addresses()
		} else {
			first := f.honest(nil)
			end = func() { first.close(); f.nodes = f.nodes[1:] }
			known = first.node.Addresses()
		}
		a := f.besiege(b.attackers, b.address, b.speak, hubs)
		defer a.end()
		a.aimAt(f.nodes...)
		time.Sleep(10 * time.Second)
		for range newcomers {
			f.honest(hubs, known...)
			a.aimAt(f.nodes...)
		}
		begun := time.Now()
		for time.Since(begun) < b.within && f.apart() > 0 {
			time.Sleep(time.Second)
		}
		apart, took := f.apart(), time.Since(begun)
		t.Logf("%d pairs of honest nodes are not connected after %v", apart, took)
		if apart > 0 && b.missing == 0 {
			t.Error("that is too many")
		}
		f.hear(t, b.missing)
		time.Sleep(b.stay)
		f.hear(t, b.missing)
		end()
		f.hear(t, b.missing)
		for _, n := range f.nodes {
			t.Logf("%d connections, %d of them with honest nodes", len(n.host.Network().Peers()), f.peersBefore(n))
		}
	})
}

// hear checks that nearly all that honest nodes share now reaches all of them.
func (f *fleet) hear(t *testing.T, most float64) {
	t.Helper()
	f.evaluateAll(10 * time.Second)
	pairs, slowest := f.missing()
	all := len(f.nodes) * (len(f.nodes) - 1)
	t.Logf("of %d shares %d are missing after 10s, the slowest took %v; %d pairs are not connected", all, pairs, slowest, f.apart())
	if float64(pairs) > most*float64(all) {
		t.Error("that is too many")
	}
}

// peersBefore counts the honest nodes that one is connected with.
func (f *fleet) peersBefore(n *simulated) (count int) {
	for _, other := range f.nodes {
		if n.host.Network().Connectedness(other.host.ID()) == network.Connected {
			count++
		}
	}
	return count
}

func TestSurroundedNewcomersHearEachOther(t *testing.T) {
	besieged{attackers: 14, address: manyRanges, within: 20 * time.Second}.test(t)
}

// A node that has dialled a member that does not speak of the task goes on to others
// and leaves it, and keeps its hub.
func TestStrangersThatDoNotSpeakOfTheTaskAreLeft(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		h := f.hub()
		defer h.Close()
		hubs, err := peeraddr.ParseHubs(h.Addresses())
		if err != nil {
			t.Fatal(err)
		}
		stranger, err := libp2p.New(append(f.onNetwork(), libp2p.ListenAddrStrings(manyRanges(0)))...)
		if err != nil {
			t.Fatal(err)
		}
		defer stranger.Close()
		book, _ := peerstore.GetCertifiedAddrBook(stranger.Peerstore())
		sealed, err := book.GetPeerRecord(stranger.ID()).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if err := stranger.Connect(t.Context(), hubs[0]); err != nil {
			t.Fatal(err)
		}
		(&siege{fleet: f, records: [][]byte{sealed}}).register(t.Context(), 0, stranger, h.ID())

		n := f.honest(h.Addresses())
		connected := func(id peer.ID) bool { return n.host.Network().Connectedness(id) == network.Connected }
		within := func(limit time.Duration, what string, reached func() bool) {
			t.Helper()
			for begun := time.Now(); !reached(); time.Sleep(100 * time.Millisecond) {
				if time.Since(begun) > limit {
					t.Fatalf("not after %v: %s", limit, what)
				}
			}
		}
		within(30*time.Second, "the stranger is dialled", func() bool { return connected(stranger.ID()) })
		within(30*time.Second, "the stranger is left", func() bool { return !connected(stranger.ID()) })
		if !connected(h.ID()) {
			t.Error("the hub was left as well")
		}
	})
}

// Where a hub has no more places, the range of addresses that has most loses one to
// another.
func TestARangeDoesNotKeepOthersFromAHubsPlaces(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		h := f.hub()
		defer h.Close()
		h.Places(2)
		hubs, err := peeraddr.ParseHubs(h.Addresses())
		if err != nil {
			t.Fatal(err)
		}
		var slots []host.Host
		defer func() {
			for _, guest := range slots {
				guest.Close()
			}
		}()
		reserve := func(address string) error {
			guest, err := libp2p.New(append(f.onNetwork(), libp2p.ListenAddrStrings(address))...)
			if err != nil {
				t.Fatal(err)
			}
			slots = append(slots, guest)
			_, err = client.Reserve(t.Context(), guest, hubs[0])
			return err
		}
		for i := range 3 {
			err := reserve(fmt.Sprintf("/ip4/12.0.0.%d/udp/8000/quic-v1", i+1))
			if (err == nil) != (i < 2) {
				t.Errorf("number %d of a range: %v", i, err)
			}
		}
		if err := reserve("/ip4/13.0.0.1/udp/8000/quic-v1"); err != nil {
			t.Errorf("one of another range: %v", err)
		}
		time.Sleep(time.Second)
		left := 0
		for _, guest := range slots[:2] {
			if guest.Network().Connectedness(h.ID()) == network.Connected {
				left++
			}
		}
		if left != 1 {
			t.Errorf("%d of the crowded range have kept a place, want 1", left)
		}
	})
}
