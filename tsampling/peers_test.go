package tsampling

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
)

// frequencies returns how often each peer is chosen over 4,000 seeds.
func frequencies(t *testing.T, p PeerDistribution, view strategy.View, features *rff.Map) map[peer.ID]float64 {
	t.Helper()
	const seeds = 4000
	counts := map[peer.ID]float64{}
	for seed := range uint64(seeds) {
		if share := p.choose(view.Shares, view, features, random.SeedOf(seed).Stream("which peer", 1)); share != nil {
			counts[share.Author] += 1. / seeds
		}
	}
	return counts
}

// TestPeerWeightsAreProbabilities compares frequencies with the weights 3, 0 and, of an unlisted peer,
// 1. The deviation of a frequency is .007; .03 is more than four of them.
func TestPeerWeightsAreProbabilities(t *testing.T) {
	spec := newTask(t, floats, "type: fts")
	view, features := viewOf(spec, 3), newFTS(t, spec).features
	p := PeerDistribution{Weighted, map[peer.ID]float64{peerID(0): 3, peerID(1): 0}}
	got := frequencies(t, p, view, features)
	for i, want := range []float64{.75, 0, .25} {
		if math.Abs(got[peerID(i)]-want) > .03 || want == 0 && got[peerID(i)] > 0 {
			t.Errorf("peer %d: %.3f, want %.3f", i, got[peerID(i)], want)
		}
	}
	p.Weights[peerID(0)], p.Weights[peerID(2)] = 0, 0
	if got := frequencies(t, p, view, features); len(got) > 0 {
		t.Errorf("all weights are 0, chosen: %v", got)
	}
}

// TestEvidencePrefersPeersThatPredict has one peer whose sample is the node's own objective, one with
// the negative of it, and one whose sample is constant.
func TestEvidencePrefersPeersThatPredict(t *testing.T) {
	for _, goal := range []float64{1, -1} {
		spec := newTask(t, floats, "type: fts")
		if goal < 0 {
			spec.Goal = "minimize"
		}
		s, view := newFTS(t, spec), viewOf(spec, 3)
		same := []float64{.3, -1, .5, .2, 1, .1, -.4, .6}
		negated := make([]float64, len(same))
		for i, w := range same {
			negated[i] = -w
		}
		for i, values := range [][]float64{same, negated, make([]float64, len(same))} {
			view.Shares[i].Value = protocol.Weights{Observations: 9, Values: values}
		}
		f := s.features.Function(same)
		p := PeerDistribution{Kind: Evidence}
		third := frequencies(t, p, view, s.features)
		for i := range 3 {
			if math.Abs(third[peerID(i)]-1./3) > .035 {
				t.Errorf("without own results peer %d has probability %.3f, want 1/3", i, third[peerID(i)])
			}
		}
		for i := range 12 {
			x := []float64{float64(i) / 11}
			view.Trials = append(view.Trials, strategy.Trial{
				ID: uint64(i) + 1, State: strategy.Done, Design: spec.Space.Decode(x),
				Outcome: &strategy.Outcome{Value: goal * (3 + 100*f.Value(x))},
			})
		}
		if got := frequencies(t, p, view, s.features); got[peerID(0)] < .999 {
			t.Errorf("goal %v: the peer with the same objective has probability %.3f", goal, got[peerID(0)])
		}
		for i := range view.Trials {
			view.Trials[i].Outcome = &strategy.Outcome{Value: 1}
		}
		if got := frequencies(t, p, view, s.features); got[peerID(0)] > .37 {
			t.Errorf("goal %v: equal results favour a peer: %v", goal, got)
		}
	}
}

// TestMessageIsTheWeightDraw compares the published weights with the two draws of the surrogate.
func TestMessageIsTheWeightDraw(t *testing.T) {
	for keys, want := range map[string]float64{"type: fts": 1, "type: fts, message: projection": 2} {
		spec := newTask(t, floats, keys)
		view := viewOf(spec, 0)
		view.Posterior = twoDraws{}
		weights, err := NewSharing(spec).drawWeights(t.Context(), view, random.SeedOf(1))
		if err != nil || weights.(protocol.Weights).Values[0] != want {
			t.Errorf("%s: %v, %v", keys, weights, err)
		}
	}
}

// twoDraws marks the two kinds of draws by their first weight.
type twoDraws struct{ posterior }

func (twoDraws) WeightDraw(context.Context, *rand.Rand) ([]float64, error) {
	return []float64{1, 0, 0, 0, 0, 0, 0, 0}, nil
}

func (twoDraws) Weights(context.Context, *rand.Rand) ([]float64, error) {
	return []float64{2, 0, 0, 0, 0, 0, 0, 0}, nil
}
