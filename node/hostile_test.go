package node_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	libp2pprotocol "github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/x/simlibp2p"
	"github.com/marcopolo/simnet"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// attack is one way to misbehave. turn is called ten times a second.
type attack struct {
	name string
	turn func(a *attacker, count uint64)

	polite   bool // answers requests to compare shares properly, with nothing
	accepted bool // what it sends is well-formed, and only too much or contradictory
	ignored  bool // it does what an honest peer may do as well, so nobody breaks with it
}

func attacks() []attack {
	return []attack{
		{name: "garbage", turn: func(a *attacker, n uint64) { a.gossip(random(200)) }},
		{name: "oversized", turn: func(a *attacker, n uint64) { a.gossip(make([]byte, protocol.MaxEnvelopeBytes+100)) }},
		{name: "wrong task", turn: func(a *attacker, n uint64) {
			a.gossip(a.seal(a.elsewhere, protocol.WeightsKind, n, weightsOf(16, 1)))
		}},
		{name: "wrong shape", turn: func(a *attacker, n uint64) { a.gossip(a.seal(a.task, protocol.WeightsKind, n, weightsOf(8, 1))) }},
		{name: "not finite", turn: func(a *attacker, n uint64) {
			a.gossip(a.seal(a.task, protocol.WeightsKind, n, weightsOf(16, float32(math.NaN()))))
		}},
		{name: "presence that is none", turn: func(a *attacker, n uint64) { a.gossip(a.seal(a.task, presence.Kind, n, []byte("?"))) }},
		{name: "replays under its own name", turn: func(a *attacker, n uint64) {
			if message := a.received.Load(); message != nil {
				a.gossip(*message)
			}
		}},
		{name: "equivocation", accepted: true, turn: func(a *attacker, n uint64) {
			a.gossip(a.seal(a.task, protocol.WeightsKind, n, weightsOf(16, 1)))
			a.gossip(a.seal(a.task, protocol.WeightsKind, n, weightsOf(16, 2)))
		}},
		{name: "flood of valid shares", accepted: true, ignored: true, turn: func(a *attacker, n uint64) {
			for i := range uint64(5) {
				a.gossip(a.seal(a.task, protocol.WeightsKind, 5*n+i, weightsOf(16, 1)))
			}
		}},
		{name: "made-up subscriptions", turn: func(a *attacker, n uint64) { a.subscribe(1000) }},
		{name: "streams without end", accepted: true, turn: func(a *attacker, n uint64) { a.open(40) }},
		{name: "coming and going", accepted: true, turn: func(a *attacker, n uint64) { a.comeAndGo(100) }},
		{name: "garbage on the sync stream", turn: func(a *attacker, n uint64) { a.sync(random(300)) }},
	}
}

// attacker is a real host whose gossip has no validators.
type attacker struct {
	attack
	fleet     *fleet
	host      host.Host
	key       crypto.PrivKey
	topic     *pubsub.Topic
	task      *task.Task
	elsewhere *task.Task
	received  atomic.Pointer[[]byte] // an honest node's share
	cancel    context.CancelFunc
}

// attackBy adds an attacker that knows some of the nodes.
func (f *fleet) attackBy(index int, what attack) *attacker {
	f.t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	link := simnet.LinkSettings{BitsPerSecond: 20 * simlibp2p.OneMbps}
	h, err := libp2p.New(
		libp2p.Identity(key),
		libp2p.ListenAddrStrings(fmt.Sprintf("/ip4/%s/udp/8000/quic-v1", simnet.IntToPublicIPv4(1000+index))),
		simlibp2p.QUICSimnet(f.net, simnet.NodeBiDiLinkSettings{Downlink: link, Uplink: link}),
		libp2p.DisableIdentifyAddressDiscovery(),
		libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.DisableMetrics(),
	)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &attacker{attack: what, fleet: f, host: h, key: key, task: f.task, elsewhere: parse(f.t, string(bytes.Replace([]byte(simTask), []byte("simulated"), []byte("elsewhere"), 1))),
		cancel: cancel}
	gossip, err := pubsub.NewGossipSub(ctx, h, pubsub.WithFloodPublish(true), pubsub.WithMaxMessageSize(4<<20))
	if err != nil {
		f.t.Fatal(err)
	}
	if a.topic, err = gossip.Join("/fbo/task/1/" + f.task.ID().String()); err != nil {
		f.t.Fatal(err)
	}
	inbox, err := a.topic.Subscribe()
	if err != nil {
		f.t.Fatal(err)
	}
	h.SetStreamHandler(a.syncProtocol(), func(s network.Stream) {
		if !what.polite {
			_, _ = s.Write(random(500))
		}
		_ = s.Close()
	})
	for i := range 8 {
		target := f.nodes[(index*3+i)%len(f.nodes)]
		_ = h.Connect(ctx, peer.AddrInfo{ID: target.host.ID(), Addrs: target.host.Addrs()})
	}
	go func() {
		for {
			message, err := inbox.Next(ctx)
			if err != nil {
				return
			}
			a.received.Store(&message.Data)
		}
	}()
	go func() {
		for n := uint64(1); ctx.Err() == nil; n++ {
			what.turn(a, n)
			time.Sleep(100 * time.Millisecond)
		}
	}()
	return a
}

func (a *attacker) close() {
	a.cancel()
	a.host.Close()
}

func (a *attacker) syncProtocol() libp2pprotocol.ID {
	return libp2pprotocol.ID("/fbo/sync/1/" + a.fleet.task.ID().String())
}

// connected waits until no node is connected. It returns the least number of connected nodes within a
// second: some attackers dial again, and are let go as soon as they have proved who they are.
func (a *attacker) connected() int {
	least := len(a.host.Network().Peers())
	for i := 0; i < 20 && least > 0; i++ { // each second of virtual time takes seconds of computing
		time.Sleep(50 * time.Millisecond)
		least = min(least, len(a.host.Network().Peers()))
	}
	return least
}

func (a *attacker) gossip(data []byte) { _ = a.topic.Publish(context.Background(), data) }

func (a *attacker) sync(data []byte) {
	for _, id := range a.host.Network().Peers() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		if s, err := a.host.NewStream(ctx, id, a.syncProtocol()); err == nil {
			_, _ = s.Write(append(binary.AppendUvarint(nil, uint64(len(data))), data...))
			_ = s.CloseWrite()
			time.AfterFunc(time.Second, func() { _ = s.Reset() })
		}
		cancel()
	}
}

// subscribe announces topics that nobody has heard of, on a stream that takes the
// place of its gossip's own.
func (a *attacker) subscribe(count int) {
	rpc := &pb.RPC{}
	for range count {
		topic, subscribe := rand.Text(), true
		rpc.Subscriptions = append(rpc.Subscriptions, &pb.RPC_SubOpts{Topicid: &topic, Subscribe: &subscribe})
	}
	a.tell(rpc)
}

// comeAndGo subscribes to the task's topic and leaves it.
func (a *attacker) comeAndGo(times int) {
	topic, comes, goes := "/fbo/task/1/"+a.task.ID().String(), true, false
	rpc := &pb.RPC{}
	for range times {
		rpc.Subscriptions = append(rpc.Subscriptions, &pb.RPC_SubOpts{Topicid: &topic, Subscribe: &comes}, &pb.RPC_SubOpts{Topicid: &topic, Subscribe: &goes})
	}
	a.tell(rpc)
}

// open holds streams to compare shares open and says nothing on them.
func (a *attacker) open(count int) {
	for _, id := range a.host.Network().Peers() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		for range count {
			if s, err := a.host.NewStream(ctx, id, a.syncProtocol()); err == nil {
				_, _ = s.Write([]byte{0xff, 0xff, 0x3f}) // a request of a MiB is to follow
			}
		}
		cancel()
	}
}

// tell sends a message of gossip to all peers.
func (a *attacker) tell(rpc *pb.RPC) {
	for _, id := range a.host.Network().Peers() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		if s, err := a.host.NewStream(ctx, id, pubsub.GossipSubID_v11); err == nil {
			_, _ = protodelim.MarshalTo(s, rpc)
		}
		cancel()
	}
}

func (a *attacker) seal(t *task.Task, kind string, sequence uint64, payload []byte) []byte {
	share, err := protocol.Seal(protocol.Share{
		Task: t.ID(), Key: protocol.Key{Kind: kind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: sequence},
		TTL: time.Hour, Payload: payload,
	}, a.key)
	if err != nil {
		panic(err)
	}
	return share.Envelope
}

// weightsOf is what protocol.Weights encodes, without its checks.
func weightsOf(count int, first float32) []byte {
	payload := []byte{1 << 3, 5, 2<<3 | 2, byte(4 * count)} // 5 observations, then the values
	for i := range count {
		value := float32(0)
		if i == 0 {
			value = first
		}
		payload = binary.LittleEndian.AppendUint32(payload, math.Float32bits(value))
	}
	return payload
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

func TestHostilePeers(t *testing.T) { testHostile(t, 8) }

// Thirteen nodes do what no honest node does. Nothing of it is accepted, each is
// disconnected, and the honest ones hear each other as without them.
func testHostile(t *testing.T, honest int) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.star(honest)
		time.Sleep(5 * time.Second)
		f.evaluateAll(0)
		before := heap()
		var hostile []*attacker
		for i, what := range attacks() {
			hostile = append(hostile, f.attackBy(i, what))
		}
		defer func() {
			for _, a := range hostile {
				a.close()
			}
		}()
		time.Sleep(5 * time.Second)
		f.evaluateAll(10 * time.Second)
		if pairs, slowest := f.missing(); pairs > 0 {
			t.Errorf("%d of %d honest shares did not arrive within 10s", pairs, honest*(honest-1))
		} else {
			t.Logf("the slowest honest share took %v", slowest)
		}
		for _, a := range hostile {
			reached := 0
			f.mu.Lock()
			for _, n := range f.nodes {
				if _, got := n.got[a.host.ID()]; got {
					reached++
				}
			}
			f.mu.Unlock()
			if reached > 0 && !a.accepted {
				t.Errorf("%s: accepted by %d nodes", a.name, reached)
			}
			if a.ignored {
				continue
			}
			if connected := a.connected(); connected > 0 {
				t.Errorf("%s: still connected to %d nodes", a.name, connected)
				for _, connection := range a.host.Network().Conns() {
					f.mu.Lock()
					for _, n := range f.nodes {
						if n.host.ID() == connection.RemotePeer() {
							t.Logf("%s: connected since %v; its newest share arrived at %v", a.name, connection.Stat().Opened, n.got[a.host.ID()])
						}
					}
					f.mu.Unlock()
				}
			}
		}
		each := uint64(honest) * 1024
		t.Logf("heap, the attackers included: %d KiB per honest node before, %d KiB after", before/each, heap()/each)
	})
}

// TestAuthorOfProvenEquivocationIsDisconnected: a node that has the proof before any share of the
// author disconnects it once the author itself gossips a share of that epoch.
func TestAuthorOfProvenEquivocationIsDisconnected(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.star(1)
		a := f.attackBy(0, attack{polite: true, turn: func(*attacker, uint64) {}})
		defer a.close()
		time.Sleep(5 * time.Second) // until gossip connects them
		for _, first := range []float32{1, 2} {
			a.gossip(a.seal(a.task, protocol.WeightsKind, 1, weightsOf(16, first)))
		}
		time.Sleep(time.Second)
		if count := a.connected(); count > 0 {
			t.Errorf("after two shares with one stamp: connected to %d nodes", count)
		}

		f.star(2)
		late := f.nodes[1]
		time.Sleep(time.Minute) // until the new node has the proof
		if err := a.host.Connect(t.Context(), peer.AddrInfo{ID: late.host.ID(), Addrs: late.host.Addrs()}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if count := len(a.host.Network().Peers()); count != 1 {
			t.Errorf("before it gossips again: connected to %d nodes, expected the new one", count)
		}
		a.gossip(a.seal(a.task, protocol.WeightsKind, 2, weightsOf(16, 1)))
		time.Sleep(time.Second)
		if count := a.connected(); count > 0 {
			t.Errorf("after a share of the same epoch: connected to %d nodes", count)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if at, got := late.got[a.host.ID()]; got {
			t.Errorf("the new node has accepted a share at %v", at)
		}
	})
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
