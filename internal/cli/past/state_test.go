package past

import (
	"testing"

	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// TestEndedItems checks the items of a stopped node: the spent guarantee where there is one, and the
// effect of peers' shares where the strategy shares something.
func TestEndedItems(t *testing.T) {
	const file = "name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\n"
	history := func(text string) (h node.History) {
		parsed, err := all.Strategies().Parse("t", []byte(file+text))
		if err != nil {
			t.Fatal(err)
		}
		h.Task = parsed
		return h
	}
	shared := history("")
	state := ledger.State{Planned: 6, Released: 2}
	shared.Spent = &state
	items := endedItems(shared)
	if len(items) != 2 || items[0].Text != strategy.PrivacyItem(state).Text || items[1].Key != strategy.PeerEffectKey {
		t.Errorf("items with a guarantee: %+v", items)
	}
	if effect, ok := strategy.StatusValue[strategy.PeerEffect](items, strategy.PeerEffectKey); !ok || effect.Verdict != strategy.PeersTooFew {
		t.Errorf("the effect is %+v", effect)
	}
	if items := endedItems(history("strategy: {type: logei}\n")); items != nil {
		t.Errorf("items of a strategy that shares nothing: %+v", items)
	}
}
