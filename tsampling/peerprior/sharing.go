package peerprior

import (
	"context"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/task"
)

// ttl is the lifetime of a shared mean. It is long, since a mean remains useful after its author
// has left.
const ttl = protocol.MaxTTL

// NewSharing returns the exchange of one agent on a task with exact shares. It publishes the mean
// of the agent's posterior after every observation, once there are minObservations.
func NewSharing(t *task.Task) *latest.Latest {
	return latest.New(latest.Spec{
		Kind: protocol.MeanKind,
		From: minObservations,
		TTL:  ttl,
		Decode: func(payload []byte) (any, error) {
			mean, err := protocol.DecodeMean(payload, t.Surrogate.Features, t.Space.Len())
			if err != nil {
				return nil, err
			}
			return &share{Mean: mean}, nil
		},
		Compute: func(ctx context.Context, view strategy.View, _ strategy.Seed) ([]byte, error) {
			mean, ok, err := meanOf(t, view)
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

// meanOf returns the mean that the agent shares. ok is false while there is nothing to share.
func meanOf(t *task.Task, view strategy.View) (mean protocol.Mean, ok bool, err error) {
	if view.Posterior == nil {
		return mean, false, nil // the surrogate could not be fitted
	}
	own, err := observations(t, view)
	units := own.units
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
