//go:build unix

package main_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	libp2pprotocol "github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/protocol"
)

// outsider is a stock libp2p host with stock gossip that tries all it can with what is
// announced. It answers proofs on streams as it likes.
type outsider struct {
	t        *testing.T
	host     host.Host
	topic    *pubsub.Topic
	received atomic.Int32         // messages of gossip
	answered func(network.Stream) // what it does on a sync or direct stream that a node opens
}

func newOutsider(t *testing.T, addresses []string, tag string, author crypto.PrivKey, answered func(network.Stream)) *outsider {
	t.Helper()
	h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableMetrics(),
		libp2p.SwarmOpts(swarm.WithDialTimeoutLocal(patienceOfTests))) // a busy machine takes longer than the default of 5 s
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	o := &outsider{t: t, host: h, answered: answered}
	h.SetStreamHandler(libp2pprotocol.ID("/fbo/sync/1/"+tag), answered)
	h.SetStreamHandler(libp2pprotocol.ID("/fbo/direct/1/"+tag), answered)
	as, err := peer.IDFromPrivateKey(author)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Peerstore().AddPrivKey(as, author); err != nil {
		t.Fatal(err)
	}
	gossip, err := pubsub.NewGossipSub(t.Context(), h, pubsub.WithFloodPublish(true), pubsub.WithMessageAuthor(as))
	if err != nil {
		t.Fatal(err)
	}
	if o.topic, err = gossip.Join("/fbo/task/1/" + tag); err != nil {
		t.Fatal(err)
	}
	inbox, err := o.topic.Subscribe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			m, err := inbox.Next(t.Context())
			if err != nil {
				return
			}
			if m.ReceivedFrom != h.ID() {
				o.received.Add(1)
			}
		}
	}()
	o.connect(addresses...)
	return o
}

func (o *outsider) connect(addresses ...string) {
	o.t.Helper()
	infos, err := peeraddr.ParsePeers(addresses)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, info := range infos {
		if err := o.host.Connect(o.t.Context(), info); err != nil {
			o.t.Fatal(err)
		}
	}
}

// announced lists what identify says of a peer, as one text.
func (o *outsider) announced(id peer.ID) string {
	protocols, _ := o.host.Peerstore().GetProtocols(id)
	return fmt.Sprint(protocols)
}

// request opens a stream, sends a message and returns the peer's response.
func (o *outsider) request(id peer.ID, name string, message []byte) []byte {
	ctx, cancel := context.WithTimeout(o.t.Context(), patienceOfTests)
	defer cancel()
	s, err := o.host.NewStream(ctx, id, libp2pprotocol.ID(name))
	if err != nil {
		return nil
	}
	defer s.Reset()
	_ = s.SetDeadline(time.Now().Add(patienceOfTests))
	_, _ = s.Write(message)
	_ = s.CloseWrite()
	answer, _ := io.ReadAll(s)
	return answer
}

// awaitBreak waits until so many nodes are left that have not disconnected it.
func (o *outsider) awaitBreak(who string, left int) {
	o.t.Helper()
	for deadline := time.Now().Add(patienceOfTests); len(o.host.Network().Peers()) > left; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			for _, c := range o.host.Network().Conns() {
				o.t.Logf("connected: %s by %s (%s), streams %d", c.RemotePeer(), c.RemoteMultiaddr(), c.Stat().Direction, len(c.GetStreams()))
			}
			o.t.Fatalf("nodes do not break with who %s", who)
		}
	}
}

// shareOf is a share of weights of a key.
func shareOf(t *testing.T, task cid.Cid, key crypto.PrivKey, sequence uint64) []byte {
	t.Helper()
	payload, err := proto.Marshal(&pb.Weights{Observations: 5, Values: make([]float32, 64)})
	if err != nil {
		t.Fatal(err)
	}
	share, err := protocol.Seal(protocol.Share{
		Task: task, Key: protocol.Key{Kind: protocol.WeightsKind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: sequence}, TTL: time.Hour, Payload: payload,
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	return share.Envelope
}

// proofRelay leads each node that asks for a proof to another one, and passes on what
// both say.
type proofRelay struct {
	host    host.Host
	targets []peer.ID
	tried   atomic.Int32
	most    atomic.Int64 // bytes that one side said
}

func (r *proofRelay) answer(s network.Stream) {
	defer s.Reset()
	ctx, cancel := context.WithTimeout(context.Background(), patienceOfTests)
	defer cancel()
	r.tried.Add(1)
	for _, target := range r.targets {
		if target == s.Conn().RemotePeer() {
			continue
		}
		// The relay does not dial a node that has disconnected it: the node's address at the hub would
		// connect the relay to the hub, which stays connected.
		other, err := r.host.NewStream(network.WithNoDial(ctx, "it is connected or has gone"), target, s.Protocol())
		if err != nil {
			return
		}
		defer other.Reset()
		var both sync.WaitGroup
		pass := func(to, from network.Stream) {
			n, _ := io.Copy(to, from)
			for old := r.most.Load(); n > old && !r.most.CompareAndSwap(old, n); old = r.most.Load() {
			}
			_ = to.CloseWrite()
		}
		both.Go(func() { pass(other, s) })
		both.Go(func() { pass(s, other) })
		both.Wait()
		return
	}
}

func tcpOf(t *testing.T, addresses []string) string {
	t.Helper()
	k := slices.IndexFunc(addresses, func(a string) bool { return strings.Contains(a, "/tcp/") && !strings.Contains(a, "p2p-circuit") })
	if k < 0 {
		t.Fatalf("no TCP among %v", addresses)
	}
	return addresses[k]
}

func recordOf(t *testing.T, h host.Host) []byte {
	t.Helper()
	book, _ := peerstore.GetCertifiedAddrBook(h.Peerstore())
	sealed, err := book.GetPeerRecord(h.ID()).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// meet asks a hub for nodes and returns how many it names.
func (o *outsider) meet(hub peer.ID, asked cid.Cid, record []byte) int {
	o.t.Helper()
	var request bytes.Buffer
	if err := protocol.WriteRendezvousRequest(&request, protocol.RendezvousRequest{Task: asked, PeerRecord: record}); err != nil {
		o.t.Fatal(err)
	}
	records, err := protocol.ReadRendezvousResponse(bytes.NewReader(o.request(hub, "/fbo/rendezvous/1", request.Bytes())))
	if err != nil {
		o.t.Fatal(err)
	}
	return len(records)
}
