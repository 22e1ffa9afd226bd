//go:build long

package node_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/record"
	connlimit "github.com/libp2p/go-libp2p/p2p/net/connmgr"
	mocknet "github.com/libp2p/go-libp2p/p2p/net/mock"
	"github.com/marcopolo/simnet"
	"github.com/multiformats/go-multiaddr"
)

// pipes is a network whose connections are pipes in memory, without encryption. Gossipsub, identify and
// all protocols of the nodes are the real ones. It counts the bytes that nodes write on streams of gossip
// and of the nodes' protocols.
type pipes struct {
	mocknet.Mocknet
	bytes atomic.Int64
}

// newHost returns a host on the network, with as many connections as a node's own host keeps.
func (p *pipes) newHost(f *fleet) host.Host {
	f.t.Helper()
	must := func(err error) {
		if err != nil {
			f.t.Helper()
			f.t.Fatal(err)
		}
	}
	key, _, err := crypto.GenerateEd25519Key(nil)
	must(err)
	address, err := multiaddr.NewMultiaddr(fmt.Sprintf("/ip4/%s/tcp/4001", simnet.IntToPublicIPv4(f.started)))
	must(err)
	h, err := p.AddPeer(key, address)
	must(err)
	signed, err := record.Seal(peer.PeerRecordFromAddrInfo(peer.AddrInfo{ID: h.ID(), Addrs: []multiaddr.Multiaddr{address}}), key)
	must(err)
	book, _ := peerstore.GetCertifiedAddrBook(h.Peerstore())
	_, err = book.ConsumePeerRecord(signed, peerstore.PermanentAddrTTL)
	must(err)
	limit, err := connlimit.NewConnManager(48, 64, connlimit.WithGracePeriod(time.Minute))
	must(err)
	h.Network().Notify(limit.Notifee())
	return &pipeHost{Host: h, net: p, limit: limit}
}

type pipeHost struct {
	host.Host
	net   *pipes
	limit *connlimit.BasicConnMgr
}

func (h *pipeHost) ConnManager() connmgr.ConnManager { return h.limit }

func (h *pipeHost) Connect(ctx context.Context, info peer.AddrInfo) error {
	if len(h.net.LinksBetweenPeers(h.ID(), info.ID)) == 0 {
		if _, err := h.net.LinkPeers(h.ID(), info.ID); err != nil {
			return err
		}
	}
	return h.Host.Connect(ctx, info)
}

func (h *pipeHost) NewStream(ctx context.Context, to peer.ID, names ...protocol.ID) (network.Stream, error) {
	s, err := h.Host.NewStream(ctx, to, names...)
	if err != nil {
		return nil, err
	}
	return counted{s, h.net}, nil
}

func (h *pipeHost) SetStreamHandler(name protocol.ID, handler network.StreamHandler) {
	h.Host.SetStreamHandler(name, func(s network.Stream) { handler(counted{s, h.net}) })
}

func (h *pipeHost) SetStreamHandlerMatch(name protocol.ID, match func(protocol.ID) bool, handler network.StreamHandler) {
	h.Host.SetStreamHandlerMatch(name, match, func(s network.Stream) { handler(counted{s, h.net}) })
}

func (h *pipeHost) Close() error { return h.limit.Close() }

// counted is a stream whose written bytes are counted.
type counted struct {
	network.Stream
	net *pipes
}

func (c counted) Write(data []byte) (int, error) {
	n, err := c.Stream.Write(data)
	c.net.bytes.Add(int64(n))
	return n, err
}

// All chosen shares arrive in topics of 24 and of 48 nodes. The bytes are logged: docs/performance.md has them.
func TestLongLargeTopicDelivers(t *testing.T) {
	for _, nodes := range []int{24, 48} {
		deliverAll(t, nodes, 12, 6)
	}
}

// deliverAll fails unless each node of a large topic receives the announced shares of all authors that it
// chooses. It logs the bytes that a node sends per minute, while each shares about once a minute.
func deliverAll(t *testing.T, nodes, above, authors int) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		net := &pipes{Mocknet: mocknet.New()}
		defer net.Close()
		f.newHost = func() host.Host { return net.newHost(f) }
		f.large(above, authors)
		f.crowd(nodes)
		minute := func() {
			for _, n := range f.nodes {
				n.evaluate()
				time.Sleep(time.Minute / time.Duration(nodes))
			}
		}
		minute()
		minute()
		before := net.bytes.Load()
		minute()
		minute()
		perNode := float64(net.bytes.Load()-before) / 2 / float64(nodes)
		time.Sleep(time.Minute) // the last shares are announced and fetched
		missing, all := 0, 0
		for i, n := range f.nodes {
			announced, lacking := n.unfetched()
			missing, all = missing+lacking, all+announced
			if _, large, err := n.session.Chosen(context.Background()); err != nil || !large || announced < authors-1 {
				t.Errorf("node %d of %d: large %v, %d announced shares of chosen authors, %v; want true and %d", i, nodes, large, announced, err, authors)
			}
		}
		t.Logf("%d nodes: %.0f bytes per node and minute, %d of %d announced shares of chosen authors are missing", nodes, perNode, missing, all)
		if missing > 0 {
			t.Errorf("%d nodes: %d of %d announced shares of chosen authors are missing a minute later", nodes, missing, all)
		}
	})
}
