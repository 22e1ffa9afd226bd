package strategy_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

const somePeer = "12D3KooWCtgLB35RpjwhC4Hwgj2ZbSsN7WRMiDdBQg9mExHX659m"

func decode(t testing.TB) peer.ID {
	t.Helper()
	id, err := peer.Decode(somePeer)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func ExampleWhy() {
	fmt.Println(strategy.Why{Source: strategy.Initial})
	fmt.Println(strategy.Why{Source: strategy.Own, OwnProbability: new(0.5)})
	fmt.Println(strategy.Why{Source: "ucb", Phrase: "upper confidence bound"})
	fmt.Println(strategy.Why{Source: strategy.Imported})
	fmt.Println(strategy.Why{Source: strategy.Own, NextBest: 7})
	fmt.Println(strategy.Why{Source: "ucb", Phrase: "upper confidence bound", RepeatOf: 7})
	fmt.Println(strategy.Why{Source: strategy.Remaining})
	// Output:
	// random start
	// own sample
	// upper confidence bound
	// imported
	// own sample, next best after trial 7
	// upper confidence bound, trial 7 again
	// random, since nearly all designs have been tried
}

// A share that is listened to makes a design one from peers; a strategy that
// could have listened does not.
func TestWhyFromPeers(t *testing.T) {
	for _, c := range []struct {
		why  strategy.Why
		want bool
	}{
		{strategy.Why{}, false},
		{strategy.Why{Source: strategy.Initial}, false},
		{strategy.Why{Source: strategy.Own, OwnProbability: new(0.5)}, false},
		{strategy.Why{Source: "ei"}, false},
		{strategy.Why{Source: "ucb"}, false},
		{strategy.Why{Source: strategy.Imported}, false},
		{strategy.Why{Source: strategy.Remaining, PeerCount: 3}, false},
		{strategy.Why{Source: "peer", Peer: decode(t)}, true},
		{strategy.Why{Source: "peer", Peer: decode(t), NextBest: 2}, true},
		{strategy.Why{Source: "peers", PeerCount: 3}, true},
		{strategy.Why{Source: "agreed", Round: 4}, false},
		{strategy.Why{Source: "agreed", PeerCount: 1}, true},
		{strategy.Why{Source: "agreed", PeerCount: 1, Round: 4}, true},
		{strategy.Why{Source: "designs"}, false},
		{strategy.Why{Source: "designs", PeerCount: 1}, true},
		{strategy.Why{Source: "density"}, false},
		{strategy.Why{Source: "density", PeerCount: 2}, true},
	} {
		if got := c.why.FromPeers(); got != c.want {
			t.Errorf("%+v: %t", c.why, got)
		}
	}
}

func TestWhySurvivesJSON(t *testing.T) {
	for _, why := range []strategy.Why{
		{Source: strategy.Own},
		{Source: strategy.Own, OwnProbability: new(0.0)},
		{Source: strategy.Own, OwnProbability: new(1.0)},
		{Source: "peer", OwnProbability: new(0.25), Peer: decode(t), Stamp: &protocol.Stamp{Epoch: 3, Sequence: 1<<64 - 1}, Observations: 7},
		{Source: "ucb"},
		{Source: "agreed", PeerCount: 4, Round: 100000},
		{Source: "designs", PeerCount: 1, Observations: 9},
		{Source: "density", PeerCount: 2},
		{Source: strategy.Own, NextBest: 3},
		{Source: strategy.Own, RepeatOf: 1},
	} {
		data, err := json.Marshal(why)
		if err != nil {
			t.Fatal(err)
		}
		var got strategy.Why
		if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got, why) {
			t.Errorf("%s became %+v, %v", data, got, err)
		}
	}
}

func TestShortIDOfAnything(t *testing.T) {
	for _, id := range []peer.ID{"", "x", decode(t)} {
		if s := strategy.ShortID(id); len(s) > 8 {
			t.Errorf("%q", s)
		}
	}
}
