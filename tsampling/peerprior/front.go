package peerprior

import (
	"github.com/fbo-node/fbo/internal/optprior/frontprior"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

// newFront returns the strategy of a task with several objectives: [frontprior.Strategy] beside
// [alone.Engine], with weights from the evidence of own outcomes.
func newFront(t *task.Task) *frontprior.Strategy {
	return frontprior.New(t, frontprior.Spec{
		Own:     alone.NewEngine(t),
		Source:  Source,
		Beta:    frontprior.Exponent,
		Weights: frontprior.EvidenceWeights(),
	})
}
