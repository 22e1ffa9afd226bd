package results

import (
	"fmt"
	"math"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Share is the value of the key share with which nodes share results.
const Share = "results"

// Disclosure returns the disclosure in which nodes share their results.
func Disclosure() strategy.Disclosure {
	return strategy.Disclosure{
		Share: Share,
		Rung:  strategy.RungResults,
		Every: true,
		Exchanges: func(env strategy.Env) ([]strategy.Exchange, error) {
			return []strategy.Exchange{NewSharing(env.Task)}, nil
		},
		Holds: func(t *task.Task) string {
			return fmt.Sprintf("a share holds up to %d results%s", protocol.MaxResults, strategy.ChoiceOf(t).Comes())
		},
		Reveals: func(t *task.Task) string {
			measured := "designs, values and failures"
			if len(t.Constraints) > 0 {
				measured = "designs, values, readings of constraints and failures"
			}
			return "Peers receive all results of this node: " + measured + ". All nodes that can take part in the task receive them. This is no privacy."
		},
		Forge: forge,
	}
}

// forge returns a payload with the same number of results. Their designs come from the attack, and
// their values are random, around the mean and of the size of the forged share's values. With
// attack.Extreme each number is the largest that the format allows, with a random sign.
func forge(t *task.Task, _ string, payload []byte, attack strategy.Forgery) ([]byte, error) {
	r, err := protocol.DecodeResults(payload, t.Space, t.Constraints)
	if err != nil {
		return nil, err
	}
	level, scale := 0.0, 0.0
	for _, one := range r.Results {
		level += one.Value / float64(len(r.Results))
		scale = max(scale, math.Abs(one.Value))
	}
	for i := range r.Results {
		one := &r.Results[i]
		one.Point, one.Failed = protocol.PointOf(t.Space, attack.Design(t.Space)), false
		one.Value = min(max(level+scale*attack.Rand.NormFloat64(), -protocol.MaxUnit), protocol.MaxUnit)
		one.Constraints = nil
		for _, c := range t.Constraints {
			reading := attack.Rand.NormFloat64()
			switch {
			case c.Truth:
				reading = float64(attack.Rand.IntN(2))
			case attack.Extreme:
				reading = math.Copysign(protocol.MaxUnit, reading)
			}
			one.Constraints = append(one.Constraints, reading)
		}
		if attack.Extreme {
			one.Value = math.Copysign(protocol.MaxUnit, attack.Rand.NormFloat64())
		}
	}
	if attack.Extreme {
		r.Observations = math.MaxInt32
	}
	return r.Encode(t.Space, t.Constraints)
}
