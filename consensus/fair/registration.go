package fair

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Register returns the registration of the strategy fair.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "fair", Settings: readSettings, Moves: true, Exact: true},
		New:          func(t *task.Task) (strategy.Strategy, error) { return New(t), nil },
		Roster:       true,
		Describe:     describe,
		Disclosures: []strategy.Disclosure{{
			Rung: strategy.RungResults,
			Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
				exchange, err := NewExchange(env.Task, env.Key)
				if err != nil {
					return nil, err
				}
				exchange.estimate.wanted = env.EstimateAlone
				return []strategy.Exchange{exchange}, nil
			},
			Reveals:  reveals,
			Outdated: func(*task.Task) string { return "strategy fair chooses designs for parties that are there" },
		}},
	}
}

func parties(n int) string {
	if n == 1 {
		return "1 party"
	}
	return fmt.Sprintf("%d parties", n)
}

func describe(t *task.Task) string {
	c := settingsOf(t)
	goal := ""
	switch {
	case c.Batch == batchTwoStep:
		goal = "the largest sum, dealt out so that who has gained least gets the best"
	case c.Batch == batchIFU:
		goal = "the order of the gains deciding who gets the best"
	case c.Rho == 1 && c.Weights == weightsExponential:
		goal = "the largest sum for all, with no regard to who has gained least"
	default:
		goal = "who has gained least being served first"
	}
	weights := ""
	if c.Batch != batchTwoStep {
		weights = fmt.Sprintf(", weights %s with rho %g", c.Weights, c.Rho)
	}
	by := "by one of them in turn, the others checking"
	if c.Mediator != "" {
		by = "by the mediator " + c.Mediator.String()
	}
	return fmt.Sprintf("in each round a batch with a design for each of %s, chosen %s: %s%s, exploration %s; a round waits up to %s for late results",
		parties(len(c.Roster)), by, goal, weights, c.Exploration, sanitize.Count(c.RoundTimeout, "second"))
}

func reveals(t *task.Task) string {
	c := settingsOf(t)
	if c.Mediator != "" {
		return fmt.Sprintf("The mediator %s sees all designs and raw results of this node; the other parties see neither, but learn by how much they have got more or less than the average party.", c.Mediator)
	}
	return fmt.Sprintf("Every one of the %d parties sees all designs and raw results of every party, this node's among them.", len(c.Roster))
}
