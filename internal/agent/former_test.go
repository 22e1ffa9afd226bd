package agent

import (
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// A peer counts once: its share of the former task ends when it shares on this one. Expired shares
// and those of a kind that the task does not use are not in views.
func TestFormerSharesCountOnce(t *testing.T) {
	d := newBowl(t)
	key := fbotest.Key(t, 60)
	fresh := say(t, d, key, "weights", 0, protocol.Stamp{Epoch: 1, Sequence: 1}, time.Hour, weights(t, 3, 1))
	other := say(t, d, fbotest.Key(t, 61), "weights", 0, protocol.Stamp{Epoch: 1, Sequence: 1}, time.Hour, weights(t, 3, 1))
	former := func(share protocol.Share, kind string, expires time.Duration) FormerShare {
		share.Kind = kind
		return FormerShare{Share: strategy.Share{Share: share, Value: protocol.Weights{}}, Expires: d.now.Add(expires)}
	}
	own := say(t, d, d.cfg.Key, "weights", 0, protocol.Stamp{Epoch: 1, Sequence: 1}, time.Hour, weights(t, 3, 1))
	if used := d.agent.UseFormer([]FormerShare{former(fresh, "weights", time.Hour), former(other, "weights", time.Minute), former(other, "unknown", time.Hour), former(own, "weights", time.Hour)}); used != 2 {
		t.Fatalf("%d used, expected 2", used)
	}
	count := func() (authors int) {
		for range strategy.Shares[protocol.Weights](d.agent.View(d.now)) {
			authors++
		}
		return authors
	}
	if n := count(); n != 2 {
		t.Errorf("%d in the view, expected 2", n)
	}
	before := len(d.agent.Digest())
	d.now = d.now.Add(2 * time.Minute)
	if n := count(); n != 1 {
		t.Errorf("after one has expired: %d in the view, expected 1", n)
	}
	if n := len(d.agent.Digest()); n != before {
		t.Errorf("the agent sends former shares: %d in the digest, expected %d", n, before)
	}
	if result, err := d.agent.Receive(d.now, fresh, 0); result != Accepted {
		t.Fatalf("%v, %v", result, err)
	}
	shares := 0
	for _, share := range d.agent.View(d.now).Shares {
		if share.Author == fresh.Author {
			shares++
		}
	}
	if shares != 1 {
		t.Errorf("%d shares of an author in the view, expected 1", shares)
	}
}
