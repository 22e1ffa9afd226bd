package node

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
)

// However many groups ask for all they can, one that asks for little has what it needs, by
// its own words as well as by what it passes on, and the node does no more than is stated.
func TestABudgetIsSharedByGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPeerPolicy(func(id peer.ID) bool { return id == "named" })
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
					if c.allowSignatureCheck(id, fmt.Sprint("range ", i), author) {
						done++
					}
				}
			}
			for range groupCheckRate {
				if !c.allowSignatureCheck("modest", "other", "modest") {
					missed++
				}
				if !c.allowSignatureCheck("modest", "other", "author") {
					missed++
				}
			}
			if !c.allowSignatureCheck("named", "range 0", "author") {
				t.Fatal("a named peer is refused")
			}
			time.Sleep(time.Second)
		}
		most := checkBurst + seconds*checkRate + 2*greedy*(groupCheckBurst+seconds*groupCheckRate)
		if least := most / 2; done > most || done < least {
			t.Errorf("%d messages are checked, want %d to %d", done, least, most)
		}
		if missed > 0 {
			t.Errorf("of a group that asks for little %d messages are refused", missed)
		}
	})
}

// While nobody else asks, one group has all, and a large item counts as several.
func TestABudgetIsOneGroupsWhileThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPeerPolicy(func(peer.ID) bool { return false })
		count := func(bytes int) (taken int) {
			for c.allowItem("peer", "range", bytes) {
				taken++
			}
			return taken
		}
		if got := count(0); got != itemBurst+groupItemBurst {
			t.Errorf("%d small items at once", got)
		}
		time.Sleep(time.Hour)
		if got := count(4 * itemBytes); got != itemBurst/5+groupItemBurst/5 {
			t.Errorf("%d large items at once", got)
		}
		if c.allowItem("other", "range", 0) && c.allowItem("other", "range", 4*itemBytes) {
			t.Error("another identity of the range has a budget of its own")
		}
		for i := range 2 * maxRanges {
			c.allowItem("peer", fmt.Sprint("range ", i), 0)
		}
		if len(c.items.groups) > maxRanges {
			t.Errorf("%d groups are remembered", len(c.items.groups))
		}
	})
}

// Copies of a message whose signature has been checked cost nothing, for a while.
func TestCopiesOfCheckedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newValidationCache()
		message := func(number int) *pb.Message {
			return &pb.Message{From: []byte("author"), Seqno: fmt.Append(nil, number)}
		}
		for i := range 100 {
			if c.has(message(i)) {
				t.Fatalf("message %d is known before it is checked", i)
			}
			c.ValidateMessage(&pubsub.Message{Message: message(i)})
			for _, recent := range []int{i, max(0, i-9)} {
				if !c.has(message(recent)) {
					t.Fatalf("message %d is not known after message %d", recent, i)
				}
			}
			time.Sleep(time.Second)
		}
		if len(c.newer)+len(c.before) > 25 {
			t.Errorf("%d messages are remembered", len(c.newer)+len(c.before))
		}
	})
}
