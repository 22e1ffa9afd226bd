// Package posteriormean shares the mean and the explained variance of each node's posterior, in the
// objective's units, as weights over the shared features of the task ([protocol.Mean]).
//
// A share replaces the author's earlier one. It stays valid after the author has left
// ([protocol.MaxTTL]). All results of a node can be computed from its share.
package posteriormean

import (
	"context"
	"math"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/task"
)

// MinObservations is the number of observations before the first share. With fewer, the level of
// the mean would nearly disclose a value.
const MinObservations = 3

// New returns the exchange of one agent. It publishes the mean of the agent's posterior after every
// observation, once there are MinObservations. value converts a decoded payload to the Value of a
// share.
func New(t *task.Task, value func(protocol.Mean) any) *latest.Latest {
	return latest.New(latest.Spec{
		Kind: protocol.MeanKind,
		From: MinObservations,
		TTL:  protocol.MaxTTL,
		Decode: func(payload []byte) (any, error) {
			mean, err := protocol.DecodeMean(payload, t.Surrogate.Features, t.Space.Len())
			if err != nil {
				return nil, err
			}
			return value(mean), nil
		},
		Compute: func(_ context.Context, view strategy.View, _ strategy.Seed) ([]byte, error) {
			mean, ok, err := Of(t, view)
			if !ok || err != nil {
				return nil, err
			}
			payload, err := mean.Encode()
			if err != nil {
				return nil, nil // the mean exceeds the limits of the format; the next one may fit
			}
			return payload, nil
		},
	})
}

// Of returns the mean that the agent with this view shares. ok is false while there is nothing to
// share.
func Of(t *task.Task, view strategy.View) (mean protocol.Mean, ok bool, err error) {
	if view.Posterior == nil {
		return mean, false, nil // the surrogate could not be fitted
	}
	obs := view.Observed(task.Objective)
	if len(obs.Y) == 0 {
		return mean, false, nil
	}
	_, units, err := surrogate.Outputs(t, obs)
	if err != nil || units.Scale == 0 {
		return mean, false, err // if all outcomes are equal, there is nothing to share
	}
	level, weights := view.Posterior.DetailedMean()
	mean = protocol.Mean{
		Observations: view.Observations,
		Level:        units.Level + units.Scale*level,
		Scale:        units.Scale,
		Values:       weights,
	}
	mean.Explained, mean.ExplainedWeights = view.Posterior.Explained()
	if t.Surrogate.Type == "rff" {
		return mean, true, nil // such a mean has the task's lengthscales, which peers know
	}
	for _, l := range view.Posterior.Hyperparameters().Lengthscales {
		mean.Lengthscales = append(mean.Lengthscales, min(max(l, protocol.MinLengthscale), protocol.MaxLengthscale))
	}
	return mean, true, nil
}

// Own returns the mean that the agent has published last, as peers receive it. ok is false if there
// is none.
func Own(view strategy.View) (mean protocol.Mean, ok bool) {
	for _, share := range view.Own {
		if share.Kind == protocol.MeanKind {
			mean, err := protocol.DecodeMean(share.Payload, view.Task.Surrogate.Features, view.Task.Space.Len())
			return mean, err == nil
		}
	}
	return mean, false
}

// Forge replaces the weights of a mean by a draw of the prior. With attack.Extreme it replaces them
// by the largest allowed weights with random signs, and all other numbers by their bounds.
func Forge(t *task.Task, payload []byte, attack strategy.Forgery) ([]byte, error) {
	mean, err := protocol.DecodeMean(payload, t.Surrogate.Features, t.Space.Len())
	if err != nil {
		return nil, err
	}
	for i := range mean.Values {
		mean.Values[i] = attack.Rand.NormFloat64()
		if attack.Extreme {
			mean.Values[i], mean.ExplainedWeights[i] = math.Copysign(protocol.MaxWeight, mean.Values[i]), protocol.MaxWeight
		}
	}
	if attack.Extreme {
		mean.Observations, mean.Explained, mean.Level, mean.Scale = math.MaxInt32, 1, protocol.MaxUnit, protocol.MaxUnit
	}
	return mean.Encode()
}
