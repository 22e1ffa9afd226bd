package experiment

import (
	"fmt"
	"math/rand/v2"

	"github.com/fbo-node/fbo/peerprior"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling"
)

// forger replaces what a member shares by weights drawn from the prior: a
// well-formed share of an honest size that says nothing true. All else in the
// share stays.
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
	}
	return nil, fmt.Errorf("accepted are the kinds %q and %q", tsampling.Kind, peerprior.Kind)
}

func (f *forger) fill(weights []float64) {
	for i := range weights {
		weights[i] = f.rng.NormFloat64()
	}
}
