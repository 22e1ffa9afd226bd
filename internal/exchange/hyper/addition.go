package hyper

import (
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Addition is the exchange for any strategy, on tasks whose hyperparameters are shared.
func Addition() strategy.ExchangeAddition {
	return strategy.ExchangeAddition{
		New:       func(t *task.Task) (strategy.Exchange, error) { return New(t) },
		Kind:      protocol.HyperparametersKind,
		Described: "peers share what their results imply for lengthscales and noise",
		Reveals:   "Peers learn how smooth this node's results are along each parameter, how noisy, and how certain that is. A peer that stores all of this may be able to compute designs and results from it, up to shift and scale.",
		Forge:     forge,
	}
}

// forge says with certainty that hyperparameters are anywhere.
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
