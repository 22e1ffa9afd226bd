package agent

import (
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// The list of valid shares is that of a computation from nothing, after any changes and at any time, also one
// before the last. Lists of earlier views stay as they were.
func TestValidSharesAfterChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newShares("self")
		now := time.Unix(1000, 0)
		var before, copied []*strategy.Share
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			author := peer.ID(rapid.SampledFrom([]string{"a", "b", "c", "self"}).Draw(t, "author"))
			key := protocol.Key{Author: author, Kind: rapid.SampledFrom([]string{"k", "l"}).Draw(t, "kind")}
			switch rapid.SampledFrom([]string{"set", "set", "set", "remove", "distrust", "time"}).Draw(t, "step") {
			case "set":
				h := &held{expires: now.Add(time.Duration(rapid.IntRange(-2, 20).Draw(t, "left")) * time.Second)}
				h.Key, h.Stamp.Epoch = key, uint64(rapid.IntRange(1, 3).Draw(t, "epoch"))
				s.set(h)
			case "remove":
				s.remove(key)
			case "distrust":
				s.distrust(author, uint64(rapid.IntRange(1, 2).Draw(t, "up to epoch")))
			case "time":
				now = now.Add(time.Duration(rapid.IntRange(-3, 6).Draw(t, "seconds")) * time.Second)
			}
			var want []*strategy.Share
			for _, h := range s.order {
				if h.Author != s.self && h.expires.After(now) && h.Epoch > s.void[h.Author] {
					want = append(want, &h.Share)
				}
			}
			got := s.valid(now)
			if !slices.Equal(got, want) {
				t.Fatalf("%d valid shares, want %d", len(got), len(want))
			}
			if !slices.Equal(before, copied) {
				t.Fatal("the list of an earlier view has changed")
			}
			before, copied = got, slices.Clone(got)
		}
	})
}
