package density

import (
	"github.com/fbo-node/fbo/internal/optprior/frontprior"
	"github.com/fbo-node/fbo/internal/optprior/pooling"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

// newFront returns the strategy of a task with several objectives: [frontprior.Strategy] beside
// [alone.Engine]. The key pooling selects the rule. With evidence, own outcomes decide between the
// arithmetic mean of the densities and none.
func newFront(t *task.Task) *frontprior.Strategy {
	spec := frontprior.Spec{
		Own:         alone.NewEngine(t),
		Source:      "density",
		Beta:        settingsOf(t).Beta,
		Weights:     frontprior.EvidenceWeights(),
		PriorSpread: shapeOf(t).Spread,
	}
	switch settingsOf(t).Pooling {
	case poolingProduct:
		spec.Weights, spec.Fixed = pooling.Only(pooling.Product), true
	case poolingMean:
		spec.Weights, spec.Fixed = pooling.Only(pooling.Geometric), true
	}
	return frontprior.New(t, spec)
}
