package node_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// large makes the nodes that are started next announce their shares in topics of more than above nodes.
func (f *fleet) large(above, authors int) {
	f.build = func(n *node.Node) {
		n.Alter(func(c *agent.Config) { c.Large = agent.LargeTopic{Above: above, Authors: authors} })
	}
}

// crowd starts nodes, each of which dials up to three of those before it.
func (f *fleet) crowd(count int) {
	f.t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(count)))
	for range count {
		before := f.nodes
		n := f.add()
		for range min(len(before), 3) {
			n.dial(before[random.IntN(len(before))])
		}
	}
}

func (s *simulated) dial(other *simulated) {
	s.fleet.t.Helper()
	if err := s.host.Connect(context.Background(), peer.AddrInfo{ID: other.host.ID(), Addrs: other.host.Addrs()}); err != nil {
		s.fleet.t.Fatal(err)
	}
}

// unfetched returns the number of announcements of chosen authors that a node has received, and of those
// whose shares it does not have.
func (s *simulated) unfetched() (announced, missing int) {
	s.fleet.t.Helper()
	chosen, _, err := s.session.Chosen(context.Background())
	if err != nil {
		s.fleet.t.Fatal(err)
	}
	view, err := s.session.View(context.Background())
	if err != nil {
		s.fleet.t.Fatal(err)
	}
	held := map[protocol.Key]*strategy.Share{}
	for _, share := range view.Shares {
		held[share.Key] = share
	}
	for _, id := range chosen {
		said := held[protocol.Key{Author: id, Kind: presence.Kind}]
		if said == nil {
			continue
		}
		for _, a := range said.Value.(protocol.Presence).Newest {
			announced++
			share := held[protocol.Key{Author: id, Kind: a.Kind, Slot: a.Slot}]
			if share == nil || share.Stamp.Compare(a.Stamp) < 0 {
				missing++
			}
		}
	}
	return announced, missing
}

func TestLargeTopicAnnouncesAndFetches(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.large(4, 3)
		f.crowd(8)
		time.Sleep(15 * time.Second)
		for _, n := range f.nodes {
			if _, large, err := n.session.Chosen(context.Background()); err != nil || !large {
				t.Fatalf("the topic of 8 nodes is large: %v, %v; want true", large, err)
			}
		}
		f.mu.Lock()
		for _, n := range f.nodes {
			clear(n.got)
		}
		f.mu.Unlock()
		for _, n := range f.nodes {
			n.evaluate()
		}
		time.Sleep(40 * time.Second)
		for i, n := range f.nodes {
			f.mu.Lock()
			received := len(n.got)
			f.mu.Unlock()
			announced, missing := n.unfetched()
			if announced != 3 || missing != 0 {
				t.Errorf("node %d: %d shares of chosen authors are announced, %d are missing; want 3 and 0", i, announced, missing)
			}
			if received < 3 || received > 6 {
				t.Errorf("node %d has received the shares of %d authors, want 3 of those chosen, and a few of an earlier choice", i, received)
			}
		}
	})
}

// TestFloodInLargeTopicEndsAtNeighbours: only the neighbours of an author that floods a large topic receive all its
// messages, since they forward few of them.
func TestFloodInLargeTopicEndsAtNeighbours(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		registry := prometheus.NewRegistry()
		f.build = func(n *node.Node) {
			n.Metrics = registry
			n.Alter(func(c *agent.Config) { c.Large = agent.LargeTopic{Above: 4, Authors: 3} })
		}
		f.crowd(11)
		time.Sleep(15 * time.Second)
		a := f.attackBy(1, attack{polite: true, turn: func(a *attacker, n uint64) {
			payload, err := protocol.Presence{}.Encode()
			if err != nil {
				t.Error(err)
			}
			a.gossip(a.seal(a.task, presence.Kind, n, payload))
		}})
		time.Sleep(30 * time.Second)
		a.close()
		neighbours, others := 0, 0
		for _, n := range f.nodes {
			excess := value(t, registry, "fbo_shares_received_total", "node", strategy.ShortID(n.node.ID()), "kind", presence.Kind, "result", "excess")
			switch {
			case excess > 200:
				neighbours++
			case excess < 60:
				others++
			default:
				t.Errorf("a node has refused %g of 300 messages", excess)
			}
		}
		if neighbours < 6 || others < 2 {
			t.Errorf("%d nodes refuse most messages of a flood and %d do not receive them, want 8 and 3", neighbours, others)
		}
	})
}
