package peerprior

import (
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Kind names the exchange and its shares.
const Kind = "mean"

// ttl is how long a mean stays valid. What was learned does not become wrong
// when its author leaves.
const ttl = protocol.MaxTTL

// Sharing is the exchange that publishes the mean of the agent's posterior
// after every observation. It never waits.
type Sharing struct {
	task *task.Task

	sharedAt  int // observations behind the newest mean that was asked for
	computing bool
}

var _ strategy.Exchange = (*Sharing)(nil)

// NewSharing returns the exchange of one agent on a task.
func NewSharing(t *task.Task) *Sharing {
	return &Sharing{task: t}
}

// Name implements strategy.Exchange.
func (*Sharing) Name() string { return Kind }

// Decode implements strategy.Exchange; the value is a protocol.Mean.
func (s *Sharing) Decode(payload []byte) (any, error) {
	return protocol.DecodeMean(payload, s.task.Surrogate.Features, s.task.Space.Len())
}

// Step implements strategy.Exchange.
func (s *Sharing) Step(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Start, strategy.Told:
		return s.compute(view)
	case strategy.WorkDone:
		s.computing = false
		mean, ok := in.Result.(protocol.Mean)
		if !ok {
			return nil // the agent has reported in.Err; the next observation brings the next try
		}
		s.sharedAt = mean.Observations // the work may have seen more than there was when it was asked for
		payload, err := mean.Encode()
		if err != nil {
			return s.compute(view) // a mean beyond all bounds says nothing; the next one will do
		}
		return append([]strategy.Output{strategy.Publish{Payload: payload, TTL: ttl}}, s.compute(view)...)
	}
	return nil
}

func (s *Sharing) compute(view strategy.View) []strategy.Output {
	if s.computing || view.Observations <= s.sharedAt || view.Observations < leastObservations {
		return nil
	}
	s.computing, s.sharedAt = true, view.Observations
	return []strategy.Output{strategy.Work{Name: "mean", Run: func(view strategy.View, _ random.Seed) (any, error) {
		return meanOf(s.task, view)
	}}}
}

// meanOf returns a protocol.Mean, or nil while there is nothing to say.
func meanOf(t *task.Task, view strategy.View) (any, error) {
	if view.Posterior == nil {
		return nil, nil // the surrogate could not be fitted
	}
	_, _, units, err := observations(t, view)
	if err != nil {
		return nil, err
	}
	if units.Scale == 0 {
		return nil, nil // all designs have turned out the same
	}
	level, weights := view.Posterior.Mean()
	mean := protocol.Mean{
		Observations: view.Observations,
		Level:        units.Level + units.Scale*level,
		Scale:        units.Scale,
		Values:       weights,
	}
	mean.Explained, mean.Known = view.Posterior.Explained()
	for _, l := range view.Posterior.Hyperparameters().Lengthscales {
		mean.Lengthscales = append(mean.Lengthscales, min(max(l, protocol.MinLengthscale), protocol.MaxLengthscale))
	}
	return mean, nil
}
