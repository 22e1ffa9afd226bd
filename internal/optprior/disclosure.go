package optprior

import (
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// CoarseDisclosure returns the disclosure in which nodes share coarse estimates of the optimum's
// location ([NewCoarse]). spread returns the argument spread of NewCoarse for a task.
func CoarseDisclosure(spread func(t *task.Task) float64) strategy.Disclosure {
	return strategy.Disclosure{
		Share:      coarsen.Share,
		Coarse:     true,
		Rung:       strategy.RungCoarse,
		Objectives: true,
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			coarse, err := NewCoarse(env, spread(env.Task))
			return []strategy.Exchange{coarse}, err
		},
		Reveals: func(t *task.Task) string {
			if t.Several() {
				return coarsen.RevealsFront(t.Space, FrontComponents)
			}
			return coarsen.Reveals(t.Space)
		},
		Forge: Forge,
	}
}
