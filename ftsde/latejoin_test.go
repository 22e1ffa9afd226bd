package ftsde

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// Which round peers have come to is what one more than may collude of the roster
// claim: fewer liars move it neither up nor, as long as enough others speak, down.
func TestTheRoundThatPeersHaveComeTo(t *testing.T) {
	definition := newTask(t, setting{nodes: 7, privacy: "colluding: 2, releases: 9"})
	keys := keysOf(7)
	exchange, err := NewExchange(definition, keys[0], entropy(1))
	if err != nil {
		t.Fatal(err)
	}
	claim := func(author peer.ID, round int) strategy.Share {
		share := strategy.Share{Value: protocol.Contribution{Release: 1, Round: round}}
		share.Author = author
		return share
	}
	rapid.Check(t, func(t *rapid.T) {
		honest := rapid.IntRange(1, 9).Draw(t, "honest")
		view := strategy.View{}
		for _, key := range keys[1:5] {
			view.Shares = append(view.Shares, claim(idOf(key), honest))
		}
		for _, key := range keys[5:] { // as many as may collude
			view.Shares = append(view.Shares, claim(idOf(key), rapid.IntRange(1, 9).Draw(t, "lie")))
		}
		view.Shares = append(view.Shares, claim("nobody", 9), claim("on the", 9), claim("roster", 9))
		if got := exchange.newest(view); got != uint64(honest) {
			t.Fatalf("round %d, want %d", got, honest)
		}
	})
	for speakers, want := range []uint64{0, 0, 0, 4, 4} {
		view := strategy.View{}
		for _, key := range keys[1 : 1+speakers] {
			view.Shares = append(view.Shares, claim(idOf(key), 4))
		}
		if got := exchange.newest(view); got != want {
			t.Errorf("%d speak: round %d, want %d", speakers, got, want)
		}
	}
}
