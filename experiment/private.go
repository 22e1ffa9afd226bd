package experiment

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// signalKey is the setting that says what agents share under a promise of privacy:
// what they should, or zeros, so that nothing but noise is heard. A strategy that is
// no better than that has learned nothing from its peers.
const (
	signalKey = "signal"
	ownSignal = "own"
	noSignal  = "none"
)

func signalOf(s Spec) string {
	for _, x := range s.Settings {
		if x.Key == signalKey {
			return x.Value
		}
	}
	return ownSignal
}

func checkSignal(s Spec) error {
	signal := signalOf(s)
	if signal != ownSignal && signal != noSignal {
		return fmt.Errorf("%s must be one of %s, %s, not %q", signalKey, ownSignal, noSignal, signal)
	}
	if _, private := s.private(nil); signal == noSignal && private == nil {
		return fmt.Errorf("%s=%s applies only under a promise of privacy: without noise nothing is left", signalKey, noSignal)
	}
	return nil
}

// checkSums says why agents of this plan could not add up.
func (p Plan) checkSums(s Spec) error {
	switch {
	case !sums(s):
		return nil
	case p.Agents < 2:
		return fmt.Errorf("--strategy %s: one agent has nobody to add up with, accepted are --agents 2 to %d", s, MaxMesh)
	case peersOf(s) != everybody:
		return fmt.Errorf("--strategy %s: all must hear the whole roster, accepted is %s=%s", s, peersKey, everybody)
	case p.Family.Forges:
		return fmt.Errorf("--strategy %s: --family %s forges what agents share, which sums have no share of; accepted are strategies without sums", s, p.Family.Name)
	case p.Network.Degree != 0 && p.Network.Degree < p.Agents-1:
		return fmt.Errorf("--strategy %s: all must hear the whole roster, accepted are --agents 2 to %d without --degree", s, MaxMesh)
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
