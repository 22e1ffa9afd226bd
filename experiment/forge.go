package experiment

import (
	"fmt"
	"math/rand/v2"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/consensus"
	"github.com/fbo-node/fbo/consensus/density"
	"github.com/fbo-node/fbo/consensus/designs"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling"
	"github.com/fbo-node/fbo/tsampling/peerprior"
)

// forger replaces the weights that a member shares by ones drawn from the prior,
// and designs by uniformly random ones: a well-formed share of an honest size that
// says nothing true. All else in the share stays.
type forger struct {
	task *task.Task
	rng  *rand.Rand
	err  error
}

func newForger(t *task.Task, seed random.Seed, member int) *forger {
	return &forger{task: t, rng: seed.Stream("forged weights", uint64(member))}
}

func (f *forger) forge(kind string, payload []byte) []byte {
	forged, err := f.replace(kind, payload)
	if err != nil {
		f.err = fmt.Errorf("forge a share of kind %q: %w", kind, err)
		return payload
	}
	return forged
}

func (f *forger) replace(kind string, payload []byte) ([]byte, error) {
	features := f.task.Surrogate.Features
	switch kind {
	case tsampling.Kind:
		weights, err := protocol.DecodeWeights(payload, features)
		if err != nil {
			return nil, err
		}
		f.fill(weights.Values)
		return weights.Encode()
	case peerprior.Kind:
		mean, err := protocol.DecodeMean(payload, features, f.task.Space.Len())
		if err != nil {
			return nil, err
		}
		f.fill(mean.Values)
		return mean.Encode()
	case consensus.Kind:
		rounds := f.task.Strategy.Consensus.Rounds
		candidate, err := protocol.DecodeCandidate(payload, f.task.Space, rounds)
		if err != nil {
			return nil, err
		}
		candidate.Point = f.point()
		return candidate.Encode(f.task.Space, rounds)
	case designs.Kind:
		design, err := protocol.DecodeNearOptimal(payload, f.task.Space)
		if err != nil {
			return nil, err
		}
		design.Point = f.point()
		return design.Encode(f.task.Space)
	case density.Kind:
		belief, err := protocol.DecodeDensity(payload, f.task.Space)
		if err != nil {
			return nil, err
		}
		for i := range belief.Components {
			belief.Components[i].Centre = f.point()
		}
		return belief.Encode(f.task.Space)
	}
	return nil, fmt.Errorf("accepted are the kinds %q, %q, %q, %q and %q",
		tsampling.Kind, peerprior.Kind, consensus.Kind, designs.Kind, density.Kind)
}

// point is uniform among the designs of the space.
func (f *forger) point() protocol.Point {
	return protocol.PointOf(f.task.Space, f.task.Space.Decode(acquisition.Sample(f.task.Space, f.rng)))
}

func (f *forger) fill(weights []float64) {
	for i := range weights {
		weights[i] = f.rng.NormFloat64()
	}
}
