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

// signalKey is the setting that selects what agents share under a promise of privacy: their
// vectors, or zeros, so that peers receive noise only. A strategy that is no better than with zeros
// has learned nothing from its peers.
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

// mute is an exchange whose computations see no model.
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

// promise is the canonical section privacy but for the names of the members.
func promise(t *task.Task) string {
	var form map[string]json.RawMessage
	if err := json.Unmarshal([]byte(canonical(t, "privacy")), &form); err != nil {
		panic(err) // it is a JSON object
	}
	delete(form, "roster")
	text, err := json.Marshal(form)
	if err != nil {
		panic(err) // it was JSON before
	}
	return string(text)
}
