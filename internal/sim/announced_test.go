package sim_test

import (
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/crowdtest"
)

// The traffic of a member does not depend on their number. Each shares once a minute.
func testCrowds(t *testing.T, authors, from, until int, sizes ...int) {
	var first crowdtest.Traffic
	for i, members := range sizes {
		got := crowdtest.PerMinute(t, members, authors, from, until)
		t.Logf("%d members: per member and minute %.1f messages and %.0f bytes by gossip, without copies, and %.0f bytes of fetches", members, got.Messages, got.Gossiped, got.Fetched)
		if i == 0 {
			first = got
			continue
		}
		if got.Messages > 1.2*first.Messages || got.Gossiped+got.Fetched > 1.2*(first.Gossiped+first.Fetched) {
			t.Errorf("with %d members a member receives %.1f messages and %.0f bytes a minute, with %d %.1f and %.0f; want 1.2 times as much at most",
				members, got.Messages, got.Gossiped+got.Fetched, sizes[0], first.Messages, first.Gossiped+first.Fetched)
		}
	}
}

func TestTrafficInCrowds(t *testing.T) { testCrowds(t, 4, 2, 4, 24, 48) }
