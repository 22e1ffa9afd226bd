package peerprior

import (
	"math/rand/v2"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/surrogate"
	"github.com/fbo-node/fbo/task"
)

// Register registers peer-prior Thompson sampling.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "peer-prior"},
		New: func(t *task.Task) (strategy.Strategy, error) {
			features, err := surrogate.SharedMap(t)
			if err != nil {
				return nil, err
			}
			return New(t, features)
		},
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			return []strategy.Exchange{NewSharing(env.Task)}, nil
		},
		Describe: func(*task.Task) string {
			return "Thompson sampling around the mean of the peers, as far as own results bear it out; a share holds the node's own mean and where it knows how much, from which all its results can be computed"
		},
		Reveals: func(*task.Task) string {
			return "Peers get this node's model of its results. Whoever knows the task can compute all results from it, designs and values: they are as good as published to all who can take part (docs/privacy.md says which strategies avoid that)."
		},
		Forge: forge,
	}
}

// forge replaces the weights of a mean by ones drawn from the prior.
func forge(t *task.Task, _ string, payload []byte, rng *rand.Rand) ([]byte, error) {
	mean, err := protocol.DecodeMean(payload, t.Surrogate.Features, t.Space.Len())
	if err != nil {
		return nil, err
	}
	for i := range mean.Values {
		mean.Values[i] = rng.NormFloat64()
	}
	return mean.Encode()
}
