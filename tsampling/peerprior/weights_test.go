package peerprior

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
)

// TestPeerWeights: a peer with the same objective gets a large weight, one with the opposite objective
// a small one, and each has its ID and number of observations.
func TestPeerWeights(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	f := bump(0.3)
	alike, contrary := l.peersOf(1, 15, f, 1)[0], l.peersOf(1, 20, scaled(f, -1), 2)[0]
	view := with(l.view(l.designs(12, random.SeedOf(9)), f), alike, contrary)
	got, err := l.strategy.PeerWeights(view)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]strategy.PeerWeight{}
	for _, weight := range got {
		of[string(weight.Peer)] = weight
	}
	first, second := of[string(peerID(0))], of[string(peerID(1))]
	if len(got) != 2 || first.Received != 15 || second.Received != 20 || first.Use < 0.8 || second.Use > 0.2 {
		t.Errorf("got %+v", got)
	}
	if got, err := l.strategy.PeerWeights(l.view(nil, f)); err != nil || len(got) != 0 {
		t.Errorf("without peers: %+v, %v", got, err)
	}
}

// TestPeerWeightsOfCoarseShares: a peer whose estimated optimum is near that of the agent gets a larger
// weight than one whose estimate is far away.
func TestPeerWeightsOfCoarseShares(t *testing.T) {
	l, s := newCoarseLab(t, plane)
	view := saying(l.view(l.designs(15, random.SeedOf(9)), bump(0.2)), l.place(0.2, 15), l.place(0.9, 20))
	got, err := s.PeerWeights(view)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Peer != peerID(0) || got[0].Received != 15 || got[0].Use < 0.5 || got[1].Use > 0.3 {
		t.Errorf("got %+v", got)
	}
}

// TestManyPeersAreWeighed: each share is judged, whatever the number of shares and the ID of its author.
func TestManyPeersAreWeighed(t *testing.T) {
	const same, opposite = maxPeers + 10, 5
	l := newLab(t, "maximize", plane, exact)
	f := bump(0.3)
	peers := slices.Concat(l.peersOf(same, 15, f, 1), l.peersOf(opposite, 15, scaled(f, -1), 2))
	got, err := l.strategy.PeerWeights(with(l.view(l.designs(12, random.SeedOf(9)), f), peers...))
	if err != nil || len(got) != same+opposite {
		t.Fatalf("%d weights, %v, expected %d", len(got), err, same+opposite)
	}
	for i, w := range got {
		if w.Peer != peerID(i) || (w.Use > 0.5) != (i < same) {
			t.Errorf("weight %d of %d: %+v, expected one above 0.5 for the first %d alone", i, len(got), w, same)
		}
	}
}

// TestCostOfManyPeers: shares times cubed observations do not exceed maxPeers times cubed maxWeighed.
func TestCostOfManyPeers(t *testing.T) {
	for _, shares := range []int{1, maxPeers, maxPeers + 1, 8 * maxPeers, 1024} {
		n := weighed(shares)
		if cost := float64(shares) * math.Pow(float64(n), 3); cost > maxPeers*math.Pow(maxWeighed, 3)*(1+1e-9) || n < 1 {
			t.Errorf("%d shares are judged with %d observations", shares, n)
		}
		if shares <= maxPeers && n != maxWeighed {
			t.Errorf("%d shares are judged with %d observations, expected %d", shares, n, maxWeighed)
		}
	}
}

// TestWeightsOfManyObservations: without peers PeerWeights allocates almost no memory, whatever the
// number of observations, and with one less than their covariance.
func TestWeightsOfManyObservations(t *testing.T) {
	const many = 4000 // whose covariance takes 128 MB
	l := newLab(t, "maximize", plane, linear)
	f := bump(0.3)
	view := l.view(l.designs(many, random.SeedOf(9)), f)
	check := func(who string, view strategy.View, want, most int) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := l.strategy.PeerWeights(view)
		runtime.ReadMemStats(&after)
		if err != nil || len(got) != want {
			t.Fatalf("%s: %+v, %v", who, got, err)
		}
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > uint64(most) {
			t.Errorf("%s: %d bytes allocated, want at most %d", who, bytes, most)
		}
	}
	check("without peers", view, 0, 16<<10)
	check("with one", with(view, l.peersOf(1, 15, f, 1)...), 1, 32<<20)
}

// TestNewestObservationsJudge: older observations count for the units alone. Their order is
// another one in the second view.
func TestNewestObservationsJudge(t *testing.T) {
	l := newLab(t, "maximize", plane, linear)
	f := bump(0.3)
	view := l.view(l.designs(maxWeighed+20, random.SeedOf(9)), f)
	reversed := view
	reversed.Trials = slices.Clone(view.Trials)
	slices.Reverse(reversed.Trials[:20])
	peer := l.peersOf(1, 15, f, 1)
	var uses []float64
	for _, view := range []strategy.View{view, reversed} {
		got, err := l.strategy.PeerWeights(with(view, peer...))
		if err != nil || len(got) != 1 {
			t.Fatalf("got %+v, %v", got, err)
		}
		uses = append(uses, got[0].Use)
	}
	if math.Abs(uses[0]-uses[1]) > 1e-9 {
		t.Errorf("a peer is of use by %g, and by %g after a change of the order of the oldest observations", uses[0], uses[1])
	}
}
