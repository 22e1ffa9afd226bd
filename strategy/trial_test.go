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
	id, err := peer.Decode(somePeer)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strategy.Why{Source: strategy.Initial})
	fmt.Println(strategy.Why{Source: strategy.Own, OwnProbability: 0.5})
	fmt.Println(strategy.Why{Source: strategy.Peer, Peer: id, Observations: 12})
	fmt.Println(strategy.Why{Source: strategy.Random, Peer: id, Observations: 12})
	fmt.Println(strategy.Why{Source: strategy.Random})
	fmt.Println(strategy.Why{Source: strategy.Imported})
	// Output:
	// random start
	// own sample
	// sample from peer ExHX659m (its 12 observations)
	// random, since the sample from peer ExHX659m led to a design already tried
	// random, since the own model led to a design already tried
	// imported
}

func TestWhySurvivesJSON(t *testing.T) {
	for _, why := range []strategy.Why{
		{Source: strategy.Own},
		{Source: strategy.Own, OwnProbability: 1},
		{Source: strategy.Peer, OwnProbability: 0.25, Peer: decode(t), Stamp: &protocol.Stamp{Epoch: 3, Sequence: 1<<64 - 1}, Observations: 7},
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
