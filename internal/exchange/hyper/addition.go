package hyper

import (
	"context"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Extension returns the extension of the surrogate that this package implements.
func Extension() strategy.SurrogateExtension {
	return strategy.SurrogateExtension{
		SurrogateExtension: task.SurrogateExtension{Key: "hyperparameters", Word: "shared"},
		Extend: func(_ *task.Task, process surrogate.Process) (surrogate.PeerModel, error) {
			return model{process}, nil
		},
		ExchangeAddition: addition(),
	}
}

// model is the exact process. It fits hyperparameters under a prior that follows from peers'
// shares.
type model struct{ surrogate.Process }

var _ surrogate.PeerModel = model{}

// FitWithPeers fits hyperparameters under the prior that follows from peers' shares.
func (m model) FitWithPeers(ctx context.Context, peers any, obs surrogate.Observations, previous *surrogate.Hyperparameters, rng *rand.Rand) (surrogate.Hyperparameters, error) {
	return m.FitUnder(ctx, peers.(LearnedPrior).Prior(), obs, previous, rng)
}

// ConditionOnPeers returns own, since peers' shares affect only the hyperparameters.
func (m model) ConditionOnPeers(_ context.Context, _ any, _ surrogate.Observations, own surrogate.Posterior) (surrogate.Posterior, error) {
	return own, nil
}

func addition() strategy.ExchangeAddition {
	return strategy.ExchangeAddition{
		New:       func(t *task.Task) (strategy.Exchange, error) { return New(t) },
		Kind:      protocol.HyperparametersKind,
		Rung:      strategy.RungExact,
		Described: "peers share what their results imply for lengthscales and noise",
		Reveals:   "Peers learn how smooth this node's results are along each parameter, how noisy, and how certain that is. A peer that stores all of this may be able to compute designs and results from it, up to shift and scale.",
		Forge:     forge,
	}
}

// forge replaces a statement by random hyperparameters with the largest allowed precision.
func forge(t *task.Task, payload []byte, attack strategy.Forgery) ([]byte, error) {
	said, err := protocol.DecodeHyperparameters(payload, t.Space.Len())
	if err != nil {
		return nil, err
	}
	model, err := surrogate.New(t)
	if err != nil {
		return nil, err
	}
	standard := model.(surrogate.PriorFitter).Prior()
	for i, at := range standard.Location {
		said.Means[i] = at + surrogate.MaxSpreads*standard.Spread[i]*(2*attack.Rand.Float64()-1)
		said.Precisions[i] = surrogate.MaxPrecision
	}
	return said.Encode()
}
