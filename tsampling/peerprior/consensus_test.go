package peerprior

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
)

// fictitious are peers that say and know random things at the reference points.
func (l *lab) fictitious(seed uint64, count int) []*peerSignal {
	rng := random.SeedOf(seed).Stream("peers", 0)
	var all []*peerSignal
	for range count {
		p := &peerSignal{use: rng.Float64()}
		for range l.strategy.reference().points {
			p.mean, p.known = append(p.mean, rng.NormFloat64()), append(p.known, rng.Float64())
		}
		all = append(all, p)
	}
	return all
}

// A consensus does not depend on the order of peers; one who is of no use changes nothing;
// and it is nowhere surer than the surest peer.
func TestConsensusOfPeers(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	rapid.Check(t, func(rt *rapid.T) {
		peers := l.fictitious(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(1, 6).Draw(rt, "peers"))
		mean, left := l.strategy.pool(peers)
		reversed := slices.Clone(peers)
		slices.Reverse(reversed)
		useless := l.fictitious(7, 1)[0]
		useless.use = 0
		for name, others := range map[string][]*peerSignal{"in another order": reversed, "with one of no use": append(slices.Clone(peers), useless)} {
			again, leftAgain := l.strategy.pool(others)
			for i := range mean {
				if math.Abs(again[i]-mean[i]) > 1e-9 || math.Abs(leftAgain[i]-left[i]) > 1e-9 {
					rt.Fatalf("%s: %g and %g left, before %g and %g", name, again[i], leftAgain[i], mean[i], left[i])
				}
			}
		}
		for i := range left {
			least := 1.0
			for _, p := range peers {
				least = min(least, 1-p.use*p.known[i])
			}
			if left[i] != least {
				rt.Fatalf("%g left of the variance, want %g", left[i], least)
			}
		}
	})
}

// One peer that knows the part E of the variance counts as one observation with noise
// (1-E)/E + peerNoise.
func TestOnePeerIsAnObservation(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	p := l.fictitious(1, 1)[0]
	p.use = 1
	mean, _ := l.strategy.pool([]*peerSignal{p})
	for i, known := range p.known {
		// Given an observation z of a variable of variance 1 with this noise, its mean is
		// z/(1+noise). The posterior mean of the peer is E·z.
		z, noise := p.mean[i]/known, (1-known)/known+peerNoise
		if want := z / (1 + noise); math.Abs(mean[i]-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("mean %g, want %g", mean[i], want)
		}
	}
}

// What a peer says is read in its own units: with mean 0 and the variance that it claims to
// explain.
func TestPeersSpeakAsLoudAsTheyKnow(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	x := l.designs(5, random.SeedOf(2))
	for _, factor := range []float64{1e-6, 1, 1e6} {
		m := l.peersOf(1, 12, scaled(bump(0.3), factor), 1)[0]
		p := l.strategy.read(&share{Mean: m}, x)
		average, variance := moments(p.mean)
		if math.Abs(average) > 1e-9 || math.Abs(variance-m.Explained) > 1e-9 || len(p.atOwn) != len(x) {
			t.Errorf("a mean of %g and variance %g, explained is %g", average, variance, m.Explained)
		}
	}
	silent := l.peersOf(1, 12, bump(0.3), 1)[0]
	clear(silent.Values)
	if p := l.strategy.read(&share{Mean: silent}, x); p != nil {
		t.Error("a peer that says nothing is listened to")
	}
}
