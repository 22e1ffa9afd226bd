package peers

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// TestBudgetIsSharedByGroups checks that a group which asks for little gets it while others ask for all
// they can, for its own messages and those that it relays, and that the node does no more than stated.
func TestBudgetIsSharedByGroups(t *testing.T) {
	now, c := noon, New(config())
	c.Name("named")
	const greedy, seconds = 60, 60
	done, missed := 0, 0
	for second := range seconds {
		for i := range greedy {
			id := peer.ID(fmt.Sprint("identity ", second, " of ", i))
			for m := range 200 {
				author := id
				if m%2 == 0 {
					author = "made up"
				}
				if c.allowCheck(now, id, author, fmt.Sprint("range ", i)) {
					done++
				}
			}
		}
		for range GroupCheckRate {
			if !c.allowCheck(now, "modest", "modest", "other") {
				missed++
			}
			if !c.allowCheck(now, "modest", "author", "other") {
				missed++
			}
		}
		if !c.allowCheck(now, "named", "author", "range 0") {
			t.Fatal("a named peer is refused")
		}
		now = now.Add(time.Second)
	}
	most := CheckBurst + seconds*CheckRate + 2*greedy*(GroupCheckBurst+seconds*GroupCheckRate)
	if least := most / 2; done > most || done < least {
		t.Errorf("%d messages are checked, want %d to %d", done, least, most)
	}
	if missed > 0 {
		t.Errorf("of a group that asks for little %d messages are refused", missed)
	}
}

// TestTimeDoesNotGoBack checks that two goroutines with times a second apart, which take turns, do not
// earn the second at each turn.
func TestTimeDoesNotGoBack(t *testing.T) {
	p := New(config())
	allowed := 0
	for i := range 10 * (CheckBurst + GroupCheckBurst) {
		if p.AllowCheck(noon.Add(time.Duration(i%2)*time.Second), "peer", "author") {
			allowed++
		}
	}
	if want := CheckBurst + GroupCheckBurst + CheckRate + GroupCheckRate; allowed > want {
		t.Errorf("%d checks are allowed, expected at most %d", allowed, want)
	}
}

// TestOneGroupMayUseTheWholeBudget checks that a group has all while no other asks, and that a large item
// counts as several.
func TestOneGroupMayUseTheWholeBudget(t *testing.T) {
	now, c := noon, New(config())
	count := func(bytes int) (taken int) {
		for c.allowItem(now, "peer", "range", bytes) {
			taken++
		}
		return taken
	}
	if got := count(0); got != ItemBurst+GroupItemBurst {
		t.Errorf("%d small items at once", got)
	}
	now = now.Add(time.Hour)
	if got := count(4 * itemBytes); got != ItemBurst/5+GroupItemBurst/5 {
		t.Errorf("%d large items at once", got)
	}
	if c.allowItem(now, "other", "range", 0) && c.allowItem(now, "other", "range", 4*itemBytes) {
		t.Error("another identity of the range has a budget of its own")
	}
	for i := range 2 * MaxRanges {
		c.allowItem(now, "peer", fmt.Sprint("range ", i), 0)
	}
	if c.items.each.groups.len() > MaxRanges {
		t.Errorf("%d groups are remembered", c.items.each.groups.len())
	}
}

// TestJoiningTasksRefillsNoLimiter checks that a peer which has used its requests gets those of one more
// task when the node joins one, and not all again.
func TestJoiningTasksRefillsNoLimiter(t *testing.T) {
	p := New(config())
	allowed := func() (n int) {
		for p.Allow(noon, "peer", Sync, 1) {
			n++
		}
		return n
	}
	for i := range 4 {
		p.JoinTopic(topicOf(t, i))
		if n := allowed(); n != SyncBurst {
			t.Errorf("after joining task %d a peer may send %d requests at once, expected %d", i+1, n, SyncBurst)
		}
	}
}
