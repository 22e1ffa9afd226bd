package past

import (
	"testing"

	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/strategy"
)

// TestSpentItems checks that a stopped node has an item about a promise of privacy, and none without.
func TestSpentItems(t *testing.T) {
	state := ledger.State{Planned: 6, Released: 2}
	items := spentItems(&state)
	if len(items) != 1 || items[0].Key != strategy.PrivacyKey || items[0].Text != strategy.PrivacyItem(state).Text {
		t.Errorf("items with a promise: %+v", items)
	}
	if items := spentItems(nil); items != nil {
		t.Errorf("items without a promise: %+v", items)
	}
}
