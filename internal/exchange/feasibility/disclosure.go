package feasibility

import (
	"fmt"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Disclosure returns the disclosure in which nodes share labels. uses is the value of its field
// Uses: how the strategy uses labels.
func Disclosure(uses string) strategy.Disclosure {
	return strategy.Disclosure{
		Share:       "feasibility",
		Constrained: true,
		Rung:        strategy.RungDesign,
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			return []strategy.Exchange{NewSharing(env.Task)}, nil
		},
		Uses: uses,
		Holds: func(*task.Task) string {
			return fmt.Sprintf("a share holds up to %d designs and whether each was feasible", protocol.MaxLabels)
		},
		Reveals: func(*task.Task) string {
			return "Peers receive the designs that this node has tried and which were feasible, but no results. This is no privacy guarantee."
		},
		Forge: forge,
	}
}
