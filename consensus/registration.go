package consensus

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Register returns the registration of the strategy consensus.
func Register() strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: "consensus", Settings: readSettings},
		New:          func(t *task.Task) (strategy.Strategy, error) { return New(t) },
		Describe:     describe,
		BudgetKey:    "rounds",
		Disclosures: []strategy.Disclosure{{
			Rung: strategy.RungDesign,
			Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
				exchange, err := NewExchange(env.Task)
				return []strategy.Exchange{exchange}, err
			},
			Holds:    holds,
			Reveals:  reveals,
			Outdated: func(*task.Task) string { return "strategy consensus averages only the candidates of present nodes" },
			Forge:    forge,
		}},
	}
}

func describe(t *task.Task) string {
	c := settingsOf(t)
	rounds := fmt.Sprintf("asynchronous, over %s", sanitize.Count(c.Rounds, "round"))
	if c.Mode == modeRounds {
		rounds = fmt.Sprintf("in %s, each waiting up to %d s", sanitize.Count(c.Rounds, "round"), c.RoundTimeout)
	}
	return fmt.Sprintf("the weighted %s of all nodes' candidates by %s, weights %s, %s", c.average(), c.Acquisition, c.Weights, rounds)
}

func holds(t *task.Task) string {
	switch c := settingsOf(t); c.Response {
	case responseValue:
		return "a share holds a candidate and its best result"
	case responseNoisy:
		return fmt.Sprintf("a share holds a candidate and its best result with noise of deviation %g", c.ResponseNoise)
	}
	return "a share holds a candidate"
}

// average returns the name of the average, for people.
func (s Settings) average() string {
	switch s.Average {
	case averageMedian:
		return "median"
	case averageTrimmed:
		return "trimmed mean"
	default:
		return "average"
	}
}

func reveals(t *task.Task) string {
	beside := "but no results"
	switch settingsOf(t).Response {
	case responseValue:
		beside = "and its best result"
	case responseNoisy:
		beside = "and its best result with noise"
	}
	return "Peers receive designs of this node, which show where it searches and which designs its model prefers, " + beside + ". This is no privacy guarantee."
}

// forge replaces the design of a candidate by a design of the attack.
func forge(t *task.Task, _ string, payload []byte, attack strategy.Forgery) ([]byte, error) {
	rounds := settingsOf(t).Rounds
	candidate, err := protocol.DecodeCandidate(payload, t.Space, rounds)
	if err != nil {
		return nil, err
	}
	candidate.Point = protocol.PointOf(t.Space, attack.Design(t.Space))
	return candidate.Encode(t.Space, rounds)
}

func settingsOf(t *task.Task) Settings { return t.Strategy.Settings.(Settings) }
