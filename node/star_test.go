package node_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

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

// star starts nodes that all know only the first.
func (f *fleet) star(count int) {
	f.t.Helper()
	for len(f.nodes) < count {
		n := f.add()
		if len(f.nodes) > 1 {
			n.connectTo(f.nodes[0])
		}
	}
}

// evaluateAll makes one trial on every node and waits.
func (f *fleet) evaluateAll(wait time.Duration) {
	f.t.Helper()
	for _, n := range f.nodes {
		n.evaluate()
	}
	time.Sleep(wait)
}

// Plain GossipSub delivers two thirds of the messages on a star of 40.
func testStar(t *testing.T, count int) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.star(count)
		for round := range 2 {
			f.evaluateAll(10 * time.Second)
			pairs, slowest := f.missing()
			if pairs > 0 {
				t.Errorf("round %d: %d of %d shares have not arrived after 10s", round, pairs, count*(count-1))
			}
			t.Logf("round %d: the slowest of the delivered took %v", round, slowest)
		}
	})
}

// A fifth of all shares gets lost on the way to each node, by gossip and by the sync
// stream. Nodes compare what they hold once a minute, and each comparison leaves about a
// fifth of what was missing: after ten minutes a share of 1560 is missing with a
// probability of less than one in ten thousand.
func testLoss(t *testing.T, count int) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		rng := rand.New(rand.NewPCG(1, 2))
		f.lose = func() bool { return rng.Float64() < 0.2 }
		f.star(count)
		time.Sleep(10 * time.Second)
		f.evaluateAll(10 * time.Second)
		pairs, slowest := f.missing()
		t.Logf("%d shares were missing after 10s", pairs)
		for minutes := 1; pairs > 0 && minutes <= 10; minutes++ {
			time.Sleep(time.Minute)
			pairs, slowest = f.missing()
			t.Logf("%d after %d minutes more", pairs, minutes)
		}
		if pairs > 0 {
			t.Errorf("%d of %d shares have not arrived after 10 minutes", pairs, count*(count-1))
		}
		t.Logf("the slowest of the delivered took %v", slowest)
	})
}

func TestStarOfTwelveDeliversEveryShare(t *testing.T) { testStar(t, 12) }

func TestLossOfAFifthIsMadeGood(t *testing.T) { testLoss(t, 10) }
