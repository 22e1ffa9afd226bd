package strategy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy"
)

func TestStatusValueOfDecodedItems(t *testing.T) {
	spent := strategy.PrivacySpent{Planned: 6, Released: 2, Refused: "two copies"}
	items := []strategy.StatusItem{{Key: "sums", Value: 3}, strategy.PrivacyItem(spent)}
	data, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	var decoded []strategy.StatusItem
	if err := json.Unmarshal(data, &decoded); err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string][]strategy.StatusItem{"typed": items, "decoded": decoded} {
		if got, ok := strategy.StatusValue[strategy.PrivacySpent](list, strategy.PrivacyKey); !ok || got != spent {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
		if got, ok := strategy.StatusValue[int](list, "sums"); !ok || got != 3 {
			t.Errorf("%s: %d, %v", name, got, ok)
		}
		if got, ok := strategy.StatusValue[int](list, strategy.PrivacyKey); ok {
			t.Errorf("%s: a state is the number %d", name, got)
		}
		if got, ok := strategy.StatusValue[int](list, "rewards"); ok {
			t.Errorf("%s: a missing item is %d", name, got)
		}
	}
}

func TestPrivacyItem(t *testing.T) {
	for _, c := range []struct {
		spent        strategy.PrivacySpent
		text, notice string
	}{
		{strategy.PrivacySpent{Planned: 6, Released: 2}, "2 of 6 releases spent", ""},
		{strategy.PrivacySpent{Planned: 1, Released: 1}, "1 of 1 release spent", "all 1 release spent"},
		{strategy.PrivacySpent{Planned: 6, Released: 6, Refused: "two copies"}, "6 of 6 releases spent at least, and there will be no more: two copies", ""},
	} {
		item := strategy.PrivacyItem(c.spent)
		if item.Text != c.text || !strings.Contains(item.Notice, c.notice) || (c.notice == "") != (item.Notice == "") {
			t.Errorf("%+v: text %q, notice %q", c.spent, item.Text, item.Notice)
		}
	}
}
