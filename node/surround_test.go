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
	"github.com/libp2p/go-libp2p/x/simlibp2p"
	"github.com/marcopolo/simnet"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
)

// onNetwork are the options that put a host on the simulated network.
func (f *fleet) onNetwork() []libp2p.Option {
	link := simnet.LinkSettings{BitsPerSecond: 20 * simlibp2p.OneMbps}
	return []libp2p.Option{
		simlibp2p.QUICSimnet(f.net, simnet.NodeBiDiLinkSettings{Downlink: link, Uplink: link}),
		libp2p.DisableIdentifyAddressDiscovery(), // stalls virtual time
		libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.DisableMetrics(),
	}
}

// honest starts a node with a host of its own, and so with the limits of real ones, in
// a range of addresses of its own.
func (f *fleet) honest(peers ...string) *simulated {
	f.t.Helper()
	f.started++
	s := &simulated{fleet: f, got: map[peer.ID]time.Time{}}
	s.node = &node.Node{Dir: f.t.TempDir(), Listen: []string{fmt.Sprintf("/ip4/11.%d.0.1/udp/8000/quic-v1", f.started)}, Peers: peers}
	s.node.Libp2p(f.onNetwork()...)
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
	cancel  context.CancelFunc
}

// besiege starts so many, each at the address that the function says.
func (f *fleet) besiege(count int, address func(int) string) *siege {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	a := &siege{fleet: f, cancel: cancel}
	a.aimAt()
	for i := range count {
		h, err := libp2p.New(append(f.onNetwork(), libp2p.ListenAddrStrings(address(i)))...)
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
	ignore := func(context.Context, peer.ID, *pubsub.Message) pubsub.ValidationResult { return pubsub.ValidationIgnore }
	if err := gossip.RegisterTopicValidator(name, ignore); err != nil {
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
			_ = protocol.WriteSyncItem(s, protocol.SyncItem{Record: sealed})
		}
	})
	go func() {
		for ctx.Err() == nil {
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
			case <-time.After(5 * time.Second):
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
	_ = protocol.WriteSyncRequest(s, protocol.SyncRequest{Records: a.some(index)})
	_ = s.CloseWrite()
	_ = protocol.ReadSyncItems(s, func(protocol.SyncItem) error { return nil })
	_ = s.Close()
}

func (a *siege) end() {
	a.cancel()
	for _, h := range a.hosts {
		h.Close()
	}
}

func oneRange(i int) string   { return fmt.Sprintf("/ip4/12.0.0.%d/udp/8000/quic-v1", i+1) }
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

// Newcomers that were given the address of one node, which others with many identities
// surround, find each other, hear each other, and go on when that node ends.
func testSurrounded(t *testing.T, attackers, newcomers int, address func(int) string) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		first := f.honest()
		a := f.besiege(attackers, address)
		defer a.end()
		a.aimAt(first)
		time.Sleep(10 * time.Second)
		for range newcomers {
			f.honest(first.node.Addresses()[0])
			a.aimAt(f.nodes...)
		}
		begun := time.Now()
		f.evaluateAll(0)
		for time.Since(begun) < 2*time.Minute && f.apart() > 0 {
			time.Sleep(time.Second)
		}
		t.Logf("%d pairs of honest nodes are not connected after %v", f.apart(), time.Since(begun))
		f.evaluateAll(10 * time.Second)
		pairs, slowest := f.missing()
		t.Logf("%d of %d shares are missing after 10s, the slowest took %v", pairs, (newcomers+1)*newcomers, slowest)
		first.close()
		f.nodes = f.nodes[1:]
		time.Sleep(5 * time.Second)
		f.evaluateAll(10 * time.Second)
		pairs, slowest = f.missing()
		t.Logf("without the first node %d of %d, the slowest took %v", pairs, newcomers*(newcomers-1), slowest)
		for _, n := range f.nodes {
			out, in := 0, 0
			for _, c := range n.host.Network().Conns() {
				if c.Stat().Direction == network.DirOutbound {
					out++
				} else {
					in++
				}
			}
			t.Logf("connections: %d out, %d in", out, in)
		}
	})
}

func TestSurroundedQ(t *testing.T) { testSurrounded(t, 20, 5, oneRange) }
func TestSurroundedA(t *testing.T) { testSurrounded(t, 60, 5, oneRange) }
func TestSurroundedB(t *testing.T) { testSurrounded(t, 60, 5, manyRanges) }
func TestSurroundedC(t *testing.T) { testSurrounded(t, 200, 5, manyRanges) }
