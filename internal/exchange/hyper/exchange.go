package hyper

import (
	"context"
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/task"
)

// fromObservations is the minimum number of observations for a statement. A single observation is
// standardised to 0 and contains no information.
const fromObservations = 2

// Exchange publishes the statements of one agent. Its Result is a LearnedPrior.
type Exchange struct {
	*latest.Latest
	standard gp.Prior
}

var _ strategy.Exchange = (*Exchange)(nil)

// New returns the exchange of one agent. It returns an error if the task's surrogate has no
// hyperparameters to learn.
func New(t *task.Task) (*Exchange, error) {
	model, err := surrogate.New(t)
	if err != nil {
		return nil, err
	}
	pupil, ok := model.(surrogate.PriorFitter)
	if !ok {
		return nil, fmt.Errorf("the surrogate of task %q has no hyperparameters that peers could help to learn", t.Name)
	}
	e := &Exchange{standard: pupil.Prior()}
	e.Latest = latest.New(latest.Spec{
		Kind: protocol.HyperparametersKind, From: fromObservations, TTL: protocol.MaxTTL,
		Decode: e.decode,
		Compute: func(ctx context.Context, view strategy.View, seed random.Seed) ([]byte, error) {
			observations := view.Observed(task.Objective)
			if len(observations.Y) < fromObservations {
				return nil, nil
			}
			said, err := pupil.Evidence(ctx, observations, seed.Stream("evidence", uint64(len(observations.Y))))
			if err != nil {
				return nil, err
			}
			return protocol.Hyperparameters{Means: said.Mean, Precisions: said.Precision}.Encode()
		},
	})
	return e, nil
}

// roundingOnTheWire is larger than the error by which a mean is rounded to float32 in messages.
const roundingOnTheWire = 1e-4

func (e *Exchange) decode(payload []byte) (any, error) {
	h, err := protocol.DecodeHyperparameters(payload, len(e.standard.Location)-1)
	if err != nil {
		return nil, err
	}
	for i, mean := range h.Means {
		reach := surrogate.MaxSpreads * e.standard.Spread[i]
		if !(math.Abs(mean-e.standard.Location[i]) <= reach+roundingOnTheWire) {
			return nil, fmt.Errorf("%w: mean %d of hyperparameters is %g, expected %g to %g", protocol.ErrMalformed,
				i, mean, e.standard.Location[i]-reach, e.standard.Location[i]+reach)
		}
	}
	return Statement{Mean: h.Means, Precision: h.Precisions}, nil
}

// Step implements strategy.Exchange.
func (e *Exchange) Step(view strategy.View, in strategy.Input) []strategy.Output {
	outputs := e.Latest.Step(view, in)
	switch in.(type) {
	case strategy.Start, strategy.TrialsEnded, strategy.Received:
		outputs = append(outputs, strategy.Result{Value: e.learned(view)})
	}
	return outputs
}

func (e *Exchange) learned(view strategy.View) LearnedPrior {
	learned := LearnedPrior{standard: e.standard}
	for _, said := range strategy.Shares[Statement](view) {
		learned.statements = append(learned.statements, said)
	}
	return learned
}

// LearnedPrior holds the statements of peers, from which Prior computes a prior.
type LearnedPrior struct {
	standard   gp.Prior
	statements []Statement
}

var _ strategy.ModelInput = LearnedPrior{}

// InformsModel implements strategy.ModelInput.
func (l LearnedPrior) InformsModel() bool { return len(l.statements) > 0 }

// Status implements strategy.StatusReporter.
func (l LearnedPrior) Status() []strategy.StatusItem {
	if len(l.statements) == 0 {
		return nil
	}
	return []strategy.StatusItem{{
		Key:   "hyperparameter_peers",
		Label: "prior",
		Value: len(l.statements),
		Text:  "lengthscales and noise from " + sanitize.Count(len(l.statements), "other node"),
	}}
}

// Prior returns the prior that follows from the statements, or nil if there are none. It may take
// long.
func (l LearnedPrior) Prior() *gp.Prior {
	if len(l.statements) == 0 {
		return nil
	}
	prior := Combine(l.standard, l.statements)
	return &prior
}
