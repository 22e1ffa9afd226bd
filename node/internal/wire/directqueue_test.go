package wire

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
)

// What waits is bounded whatever is posted, and the oldest goes first: of a peer,
// and of all when all are too many.
func TestQueuesOfDirectMessagesAgreeWithAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &directMessenger{queues: map[peer.ID]*directQueue{}}
		type entry struct{ to, at, size int }
		var all []entry // oldest first
		var count, bytes [61]int
		const any = 60 // where the sums are
		drop := func(to int) {
			i := slices.IndexFunc(all, func(e entry) bool { return to == any || e.to == to })
			for _, sum := range []int{all[i].to, any} {
				count[sum]--
				bytes[sum] -= all[i].size
			}
			all = slices.Delete(all, i, i+1)
		}
		peers := rapid.IntRange(1, any).Draw(t, "peers")
		data := make([]byte, rapid.IntRange(100, protocol.MaxDirectBytes).Draw(t, "bytes"))
		dropped := 0
		for i := range rapid.IntRange(1, 1500).Draw(t, "messages") {
			to := (i * 7) % peers
			l := queuedDirect{protocol.Direct{Exchange: "sum", Data: data[i%100:]}, time.Unix(int64(i), 0)}
			q := c.queues[peer.ID(fmt.Sprint(to))]
			if q == nil {
				q = &directQueue{}
				c.queues[peer.ID(fmt.Sprint(to))] = q
			}
			dropped += c.insert(q, len(q.waiting), l)
			all = append(all, entry{to, i, l.size()})
			for _, sum := range []int{to, any} {
				count[sum]++
				bytes[sum] += l.size()
			}
			for count[to] > maxQueuedToPeer || bytes[to] > maxQueuedBytesToPeer {
				drop(to)
			}
			for count[any] > maxQueued || bytes[any] > maxQueuedBytes {
				drop(any)
			}
			if c.count != count[any] || c.bytes != bytes[any] || dropped != i+1-count[any] {
				t.Fatalf("%d messages of %d bytes wait and %d were dropped, want %d of %d", c.count, c.bytes, dropped, count[any], bytes[any])
			}
		}
		for _, e := range all {
			q := c.queues[peer.ID(fmt.Sprint(e.to))]
			if len(q.waiting) == 0 || q.waiting[0].at.Unix() != int64(e.at) {
				t.Fatal("other messages wait than the newest, or in another order")
			}
			c.remove(q)
		}
		if c.count != 0 || c.bytes != 0 {
			t.Fatalf("%d messages of %d bytes more wait", c.count, c.bytes)
		}
	})
}

// A message that comes back after a failed attempt is the oldest, and the first
// to go when there is no room for it.
func TestAMessageThatComesBackIsTheOldest(t *testing.T) {
	c := &directMessenger{queues: map[peer.ID]*directQueue{}}
	q := &directQueue{}
	old := queuedDirect{protocol.Direct{Exchange: "old"}, time.Unix(0, 0)}
	for i := range maxQueuedToPeer - 1 {
		c.insert(q, i, queuedDirect{protocol.Direct{Exchange: "new"}, time.Unix(1, 0)})
	}
	if dropped := c.insert(q, 0, old); dropped != 0 || q.waiting[0].Exchange != "old" {
		t.Errorf("%d dropped, the first is %+v", dropped, q.waiting[0])
	}
	c.remove(q)
	c.insert(q, len(q.waiting), queuedDirect{protocol.Direct{Exchange: "new"}, time.Unix(2, 0)})
	if dropped := c.insert(q, 0, old); dropped != 1 || q.waiting[0].Exchange != "new" || len(q.waiting) != maxQueuedToPeer {
		t.Errorf("%d dropped, %d wait, the first is %+v", dropped, len(q.waiting), q.waiting[0])
	}
}
