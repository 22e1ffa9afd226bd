//go:build long

package node_test

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
)

// A keeper suggests to each node the authors whose shares resemble its own most, and each fetches the shares
// of the first of them from its second choice of authors on. Half of the nodes maximise what the others
// minimise. Shares are draws from posteriors, so not all first ones are of the same half: 11 of 12 with these
// seeds. Authors at random would be so for 10 or more nodes with a probability of 1 %.
func TestLongKeeperSuggestsAuthorsThatNodesFetch(t *testing.T) {
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
