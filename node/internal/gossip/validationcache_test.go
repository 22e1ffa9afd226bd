package gossip

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
)

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
