package sharedlatent

import (
	"context"
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/exchange/sharedlatent/latent"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/task"
)

// fromObservations is the minimum number of observations for a statement. A single observation is
// standardised to 0 and contains no information.
const fromObservations = 2

// maxPeers is the maximum number of statements that a node uses. If there are more, it uses those
// with the most observations.
const maxPeers = 50

// Exchange publishes the statements of one agent. Its Result is a PeerFactors.
type Exchange struct{ *latest.Latest }

var _ strategy.Exchange = (*Exchange)(nil)

// New returns the exchange of one agent. The task's surrogate must be of type shared-latent.
func New(t *task.Task) (*Exchange, error) {
	m, err := modelOf(t)
	if err != nil {
		return nil, err
	}
	spec := m.spec
	return &Exchange{latest.New(latest.Spec{
		Kind: protocol.LatentKind, From: fromObservations, TTL: protocol.MaxTTL,
		Decode: func(payload []byte) (any, error) { return decode(spec, payload) },
		Compute: func(ctx context.Context, view strategy.View, _ random.Seed) ([]byte, error) {
			observations := view.Observed(task.Objective)
			if len(observations.Y) < fromObservations || view.Posterior == nil {
				return nil, nil
			}
			said, err := m.state(ctx, observations, view.Posterior)
			if err != nil {
				return nil, err
			}
			return encode(spec, said)
		},
	})}, nil
}

// modelOf returns the model of a task of type shared-latent.
func modelOf(t *task.Task) (*model, error) {
	own, err := surrogate.New(t)
	if err != nil {
		return nil, err
	}
	process, ok := own.(surrogate.Process)
	if !ok || t.Surrogate.Word() != Word {
		return nil, fmt.Errorf("the surrogate of task %q is of type %s: must be %s", t.Name, t.Surrogate.Word(), Word)
	}
	return newModel(t, process), nil
}

func encode(spec latent.Spec, said latent.Statement) ([]byte, error) {
	payload := protocol.Latent{Observations: said.Observations, Rows: said.Rows, Outputs: said.Outputs}
	for _, square := range said.Latent[0] {
		payload.Lengthscales = append(payload.Lengthscales, math.Sqrt(square))
	}
	return payload.Encode(len(spec.Points))
}

func decode(spec latent.Spec, payload []byte) (any, error) {
	said, err := protocol.DecodeLatent(payload, len(spec.PriorMode().Latent[0]), len(spec.Points))
	if err != nil {
		return nil, err
	}
	statement := latent.Statement{Observations: min(said.Observations, latent.MaxObservations), Latent: [][]float64{nil}, Rows: said.Rows, Outputs: said.Outputs}
	for _, l := range said.Lengthscales {
		statement.Latent[0] = append(statement.Latent[0], l*l)
	}
	if err := spec.Check(statement); err != nil {
		return nil, fmt.Errorf("%w: %w", protocol.ErrMalformed, err)
	}
	return statement, nil
}

// Step implements strategy.Exchange.
func (e *Exchange) Step(view strategy.View, in strategy.Input) []strategy.Output {
	outputs := e.Latest.Step(view, in)
	switch in.(type) {
	case strategy.Start, strategy.TrialsEnded, strategy.Received:
		outputs = append(outputs, strategy.Result{Value: peerFactors(view)})
	}
	return outputs
}

// PeerFactors holds the statements of peers.
type PeerFactors []latent.Statement

var _ strategy.ModelInput = PeerFactors(nil)

// InformsModel implements strategy.ModelInput.
func (f PeerFactors) InformsModel() bool { return len(f) > 0 }
