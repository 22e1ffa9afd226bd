package averageobjective

import (
	"github.com/fbo-node/fbo/internal/exchange/posteriormean"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Register returns the registration of the strategy average-objective.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "average-objective", Straight: true},
		New: func(t *task.Task) (strategy.Strategy, error) {
			features, err := surrogate.SharedMap(t)
			if err != nil {
				return nil, err
			}
			return New(t, features), nil
		},
		Describe: func(*task.Task) string {
			return "one design for all agents: the upper confidence bound of the average of their objectives, in the objective's units"
		},
		Disclosures: []strategy.Disclosure{disclose()},
	}
}

// disclose returns the disclosure in which a node shares the mean and the explained variance of its
// posterior.
func disclose() strategy.Disclosure {
	return strategy.Disclosure{
		Rung: strategy.RungExact,
		Uses: "averaged with the own posterior",
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			return []strategy.Exchange{posteriormean.New(env.Task, func(m protocol.Mean) any { return m })}, nil
		},
		Holds: func(*task.Task) string {
			return "a share holds the node's posterior mean and its variance, from which all its results can be computed"
		},
		Reveals: func(*task.Task) string {
			return "Peers receive this node's model of its results, in the objective's units. All who know the task can compute all results from it, designs and values: in effect they are published to all nodes that can take part."
		},
		Forge: func(t *task.Task, _ string, payload []byte, attack strategy.Forgery) ([]byte, error) {
			return posteriormean.Forge(t, payload, attack)
		},
	}
}
