package experiment

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// signalKey is the setting that selects the content of differentially private shares: the agents'
// vectors, or zeros. With zeros, peers receive noise only. If a strategy is no better than with
// zeros, its agents have learned nothing from their peers.
const (
	signalKey = "signal"
	ownSignal = "own"
	noSignal  = "none"
)

func signalOf(s Spec) string { return cmp.Or(s.setting(signalKey), ownSignal) }

func (p Plan) checkSignal(s Spec) error {
	signal := signalOf(s)
	if signal != ownSignal && signal != noSignal {
		return fmt.Errorf("%s must be one of %s, %s, not %q", signalKey, ownSignal, noSignal, signal)
	}
	if _, private := p.private(s, nil); signal == noSignal && private == nil {
		return fmt.Errorf("%s=%s applies only with a privacy guarantee: without noise nothing is left", signalKey, noSignal)
	}
	return nil
}

// mute is an exchange whose computations do not get the agent's model.
type mute struct{ strategy.Exchange }

func (m mute) Step(view strategy.View, in strategy.Input) []strategy.Output {
	outputs := m.Exchange.Step(view, in)
	for i, output := range outputs {
		if work, ok := output.(strategy.Work); ok {
			run := work.Run
			work.Run = func(ctx context.Context, view strategy.View, seed random.Seed) (any, error) {
				view.Posterior, view.Constraints = nil, nil
				return run(ctx, view, seed)
			}
			outputs[i] = work
		}
	}
	return outputs
}

// promise returns the canonical section privacy without the names of the members.
func promise(t *task.Task) string {
	var form map[string]json.RawMessage
	if err := json.Unmarshal([]byte(canonical(t, "privacy")), &form); err != nil {
		panic(err) // unexpected: it is a JSON object
	}
	delete(form, "roster")
	text, err := json.Marshal(form)
	if err != nil {
		panic(err) // unexpected: it was JSON before
	}
	return string(text)
}
