package node_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

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

// A keeper suggests to each node the authors whose shares resemble its own most, and each fetches the shares
// of the first of them from its second choice of authors on. Half of the nodes maximise what the others
// minimise. Shares are draws from posteriors, so not all first ones are of the same half: 11 of 12 with these
// seeds. Authors at random would be so for 10 or more nodes with a probability of 1 %.
func TestKeeperSuggestsAuthorsThatNodesFetch(t *testing.T) {
	const nodes, authors = 12, 4
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.large(6, authors)
		f.keep = true
		keeper := f.add()
		f.keep = false
		f.crowd(nodes)
		sign := map[peer.ID]float64{}
		for i, n := range f.nodes[1:] {
			sign[n.node.ID()] = float64(1 - 2*(i%2))
			for range 8 {
				trial, err := n.session.Ask(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if err := n.session.Tell(context.Background(), trial.ID, sign[n.node.ID()]*float64(trial.Design.Int("x"))); err != nil {
					t.Fatal(err)
				}
			}
		}
		time.Sleep(6 * time.Minute)
		nearest, same := f.nearest(keeper), 0
		for i, n := range f.nodes[1:] {
			id := n.node.ID()
			if len(nearest[id]) != nodes-1 {
				t.Fatalf("the keeper can compare the shares of node %d with those of %d others, want %d", i, len(nearest[id]), nodes-1)
			}
			chosen, large, err := n.session.Chosen(context.Background())
			if err != nil || !large || len(chosen) != authors {
				t.Errorf("node %d: large %v, %d authors, %v; want true and %d", i, large, len(chosen), err, authors)
			}
			first := nearest[id][0]
			if sign[first] == sign[id] {
				same++
			}
			if !slices.Contains(chosen, first) {
				t.Errorf("node %d has not chosen the nearest author", i)
			}
		}
		if same < 10 {
			t.Errorf("the nearest author is of the same half for %d of %d nodes, want 10", same, nodes)
		}
	})
}

// nearest returns the other authors by the distance of their weights, as far as a node has them.
func (f *fleet) nearest(at *simulated) map[peer.ID][]peer.ID {
	f.t.Helper()
	view, err := at.session.View(context.Background())
	if err != nil {
		f.t.Fatal(err)
	}
	shares := map[peer.ID]any{}
	for _, share := range view.Shares {
		if share.Kind != presence.Kind {
			shares[share.Author] = share.Value
		}
	}
	nearest := map[peer.ID][]peer.ID{}
	for id, own := range shares {
		distance := func(other peer.ID) float64 {
			d, _ := own.(interface{ Distance(any) (float64, bool) }).Distance(shares[other])
			return d
		}
		for other := range shares {
			if other != id {
				nearest[id] = append(nearest[id], other)
			}
		}
		slices.SortFunc(nearest[id], func(a, b peer.ID) int { return cmp.Compare(distance(a), distance(b)) })
	}
	return nearest
}
