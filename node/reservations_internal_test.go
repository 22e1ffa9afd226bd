package node

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

// A range that comes first has all places until another comes, which gets as many; who has
// one keeps it when it asks again, and who has left makes room.
func TestPlacesAreSharedByRanges(t *testing.T) {
	const all = 8
	p := newReservations(all)
	ask := func(group string, times int) (given, taken int) {
		for i := range times {
			loses, ok := p.take(peer.ID(fmt.Sprint(group, i)), group)
			if ok {
				given++
			}
			if loses != "" {
				taken++
			}
		}
		return given, taken
	}
	for _, step := range []struct {
		group               string
		times, given, taken int
	}{
		{"first", all + 3, all, 0},
		{"first", all, all, 0}, // again
		{"second", all, all / 2, all / 2},
		{"third", 1, 1, 1},
	} {
		if given, taken := ask(step.group, step.times); given != step.given || taken != step.taken {
			t.Errorf("%s: %d of %d get a place, %d of others lose one, want %d and %d", step.group, given, step.times, taken, step.given, step.taken)
		}
	}
	p.forget("third0")
	if given, taken := ask("fourth", 1); given != 1 || taken != 0 {
		t.Errorf("where one has left, %d get a place and %d lose one", given, taken)
	}
}
