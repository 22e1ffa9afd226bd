package node_test

import (
	"context"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

const swarmSize = 40

// connectTo dials one node.
func (s *simulated) connectTo(other *simulated) {
	s.fleet.t.Helper()
	if err := s.host.Connect(context.Background(), peer.AddrInfo{ID: other.host.ID(), Addrs: other.host.Addrs()}); err != nil {
		s.fleet.t.Fatal(err)
	}
}

// missing counts the pairs of nodes of which the one lacks what the other sent
// last, and returns the slowest delivery.
func (f *fleet) missing() (pairs int, slowest time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, receiver := range f.nodes {
		for _, sender := range f.nodes {
			sent, ok := f.sent[sender.node.ID()]
			if receiver == sender || !ok {
				continue
			}
			took := receiver.got[sender.node.ID()].Sub(sent)
			if took < 0 {
				pairs++
			}
			slowest = max(slowest, took)
		}
	}
	return pairs, slowest
}

// On a star of 40, plain GossipSub delivers two thirds of the messages.
func TestStarOfFortyDeliversEveryShareWithin10s(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		first := f.add()
		for range swarmSize - 1 {
			f.add().connectTo(first)
		}
		for round := range 3 {
			for _, n := range f.nodes {
				n.evaluate()
			}
			time.Sleep(10 * time.Second)
			pairs, slowest := f.missing()
			if pairs > 0 {
				t.Errorf("round %d: %d of %d shares have not arrived after 10s", round, pairs, swarmSize*(swarmSize-1))
			}
			t.Logf("round %d: the slowest of the delivered took %v", round, slowest)
		}
	})
}
