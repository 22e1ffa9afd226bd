package fair

import (
	"reflect"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

func TestStatusOfRewards(t *testing.T) {
	ids := idsOf(t, 2)
	other, self := ids[0], ids[1]
	round := Round{self: self, rewards: []Reward{
		{Party: other},
		{Party: self, Evaluations: 12, Sum: 30.25, Best: 4.125, RelativeToMean: 1.5, Alone: &Estimate{Evaluations: 10, Sum: 20.5, Best: 4, ActualSum: 25}},
	}}
	items := round.Status()
	want := [][]string{
		{"party", "evaluations", "best", "sum", "better than average by"},
		{"…" + strategy.ShortID(other), "0", "-", "0", "+0"},
		{"…" + strategy.ShortID(self) + " (this node)", "12", "4.125", "30.25", "+1.5"},
	}
	if len(items) != 1 || items[0].Key != "rewards" || !reflect.DeepEqual(items[0].Rows, want) {
		t.Fatalf("items %+v, want rows %v", items, want)
	}
	if !strings.HasPrefix(items[0].Text, "alone this node would have reached a sum of about 20.5, best 4, in its first 10 evaluations") {
		t.Errorf("text %q", items[0].Text)
	}
	if got, ok := strategy.StatusValue[[]Reward](items, "rewards"); !ok || len(got) != 2 || got[1].Sum != 30.25 {
		t.Errorf("value %+v", got)
	}
	// The estimate of another party is not about this node.
	round.rewards[0].Alone, round.rewards[1].Alone = round.rewards[1].Alone, nil
	if text := round.Status()[0].Text; text != "" {
		t.Errorf("text about another party: %q", text)
	}
	if items := (Round{self: self}).Status(); len(items) > 0 {
		t.Errorf("items without rewards: %+v", items)
	}
}

func idsOf(t *testing.T, n int) (ids []peer.ID) {
	t.Helper()
	for _, key := range keysOf(n) {
		id, err := peer.IDFromPrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestEstimatesAreMadeWhereAsked(t *testing.T) {
	definition := newTask(t, 2, noMediator, "")
	for _, asked := range []bool{false, true} {
		exchanges, err := Register().Disclosure(definition).Exchanges(strategy.Env{Task: definition, Key: keysOf(2)[0], EstimateAlone: asked})
		if err != nil {
			t.Fatal(err)
		}
		if got := exchanges[0].(*Exchange).estimate.wanted; got != asked {
			t.Errorf("asked %v: the exchange estimates: %v", asked, got)
		}
	}
}
