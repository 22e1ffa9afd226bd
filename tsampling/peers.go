package tsampling

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
	"gonum.org/v1/gonum/stat"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Kinds of P_N in a task file.
const (
	Uniform  = "uniform"  // all peers have the same probability, as in the paper's experiments
	Weighted = "weighted" // probabilities are proportional to the weights of the task file
	Evidence = "evidence" // probabilities are proportional to how well a sample predicts own outcomes
)

// MaxPeerWeight is the largest weight of a peer.
const MaxPeerWeight = 1e6

// PeerDistribution is P_N, the distribution over the peers with a usable sample.
type PeerDistribution struct {
	Kind string // Uniform, Weighted or Evidence
	// Weights has the weights of Kind Weighted, 0 to MaxPeerWeight. Other peers have weight 1.
	Weights map[peer.ID]float64
}

// readPeers reads the keys peers and peer_weights of a task file.
func readPeers(s *task.Section) (p PeerDistribution) {
	p.Kind = s.Word("peers", Uniform, Uniform, Weighted, Evidence)
	if p.Kind == Evidence && s.Several() {
		s.Errorf("peers", "peers %s compares a sample with the outcomes of one objective; expected with several: %s or %s", Evidence, Uniform, Weighted)
	}
	switch p.Kind {
	case Weighted:
		p.Weights, _ = s.PeerWeights("peer_weights", 0, MaxPeerWeight)
	case "": // an unknown word was reported; the key may belong to the intended one
		s.Accept("peer_weights")
	default:
		s.Refuse("peer_weights", "peers: "+Weighted)
	}
	return p
}

// addKeys adds the keys that readPeers reads, unless they are the defaults.
func (p PeerDistribution) addKeys(keys map[string]any) {
	if p.Kind != Uniform {
		keys["peers"] = p.Kind
	}
	if p.Kind == Weighted {
		weights := map[string]float64{}
		for id, weight := range p.Weights {
			weights[id.String()] = weight
		}
		keys["peer_weights"] = weights
	}
}

// choose returns a share of a peer drawn from the distribution, and nil if all weights are 0.
func (p PeerDistribution) choose(shares []*strategy.Share, view strategy.View, features *rff.Map, rng *rand.Rand) *strategy.Share {
	if len(shares) == 0 {
		return nil
	}
	if p.Kind == Uniform {
		return shares[rng.IntN(len(shares))]
	}
	weights := make([]float64, len(shares))
	for i, share := range shares {
		if p.Kind == Evidence {
			weights[i] = evidence(view, features.Function(share.Value.(protocol.Weights).Values))
		} else if weight, listed := p.Weights[share.Author]; listed {
			weights[i] = weight
		} else {
			weights[i] = 1
		}
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	at := rng.Float64() * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return shares[i]
		}
	}
	return nil
}

// evidence returns by how much a peer's sample f predicts the n own outcomes better than a constant:
// (1 − r²)^(−n/2), the ratio of largest likelihoods of a linear regression of outcomes on f, or 1 if
// they are not positively correlated. r = sin(πτ/2) is computed from Kendall's rank correlation τ, since
// a peer's outcomes have other units. The result is at most e^50.
func evidence(view strategy.View, f *rff.Function) float64 {
	const maxLog = 50
	var values, outcomes []float64
	for _, trial := range view.Trials {
		if trial.State == strategy.Done && trial.Outcome != nil {
			values = append(values, f.Value(view.Task.Space.Encode(trial.Design)))
			outcomes = append(outcomes, view.Task.Goal.Sign()*trial.Outcome.Value)
		}
	}
	if len(values) < 2 || constant(outcomes) {
		return 1
	}
	r := math.Sin(math.Pi / 2 * stat.Kendall(values, outcomes, nil))
	if !(r > 0) {
		return 1
	}
	return math.Exp(min(-float64(len(values))/2*math.Log1p(-r*r), maxLog))
}

func constant(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] })
}
