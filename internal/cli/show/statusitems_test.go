package show

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
)

// TestStatusShowsItems shows items that this program does not know, of a running node and, after
// it ended, what it has spent of a promise of privacy.
func TestStatusShowsItems(t *testing.T) {
	t.Parallel()
	items := []strategy.StatusItem{
		{Key: "sums", Label: "sums", Value: map[string]int{"known": 3}, Text: "3 known"},
		{Key: "orders", Label: "orders", Value: 2, Text: "of 2 parties", Rows: [][]string{{"party", "count"}, {"first", "1"}, {"second", "22"}}},
	}
	stopped := []strategy.StatusItem{strategy.PrivacyItem(ledger.State{Planned: 6, Released: 2})}
	for _, c := range []struct {
		past past.History
		want string
	}{
		{past.History{Items: items, Running: &node.Status{Items: items}}, "\nsums      3 known\norders    of 2 parties\norders  count\nfirst   1\nsecond  22\n"},
		{past.History{Items: stopped}, "\nprivacy   2 of 6 releases spent\nnode      not running\n"},
	} {
		c.past.Task = clitest.MixedTask(t)
		var out strings.Builder
		writeStatus(&out, c.past)
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("got\n%s\nwant in it\n%s", out.String(), c.want)
		}
		encoded, err := json.Marshal(statusObject(c.past))
		if err != nil {
			t.Fatal(err)
		}
		var decoded struct{ Items []strategy.StatusItem }
		if err := json.Unmarshal(encoded, &decoded); err != nil || len(decoded.Items) != len(c.past.Items) {
			t.Errorf("%s: %v", encoded, err)
		}
	}
}
