package node_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/fbo-node/fbo/node"
)

const privateBowl = `
name: private bowl
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
strategy: {type: constrained-gp, threshold: private, initial_designs: 3}
`

// Three nodes over real sockets, of which the first is better than the others by far: it
// listens to nobody, both others hear of its design, and nothing goes by gossip.
func TestPrivateThresholdsOverRealSockets(t *testing.T) {
	first := loopback(t)
	nodes := []*node.Node{first, loopback(t, first.Addresses()[0]), loopback(t, first.Addresses()[0])}
	var sessions []*node.Session
	for i, n := range nodes {
		sessions = append(sessions, join(t, n, privateBowl, uint64(i)))
	}
	eventually(t, "everybody sees everybody", func() bool {
		return !slices.ContainsFunc(sessions, func(s *node.Session) bool { return len(statusOf(t, s).Present) < 3 })
	})
	evaluate := func(index int) (listened int) {
		t.Helper()
		trial, err := sessions[index].Ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		value := math.Pow(trial.Design.Float("x")-0.7, 2) + math.Pow(trial.Design.Float("y")+0.3, 2)
		if index == 0 {
			value -= 100
		}
		if err := sessions[index].Tell(t.Context(), trial.ID, value); err != nil {
			t.Fatal(err)
		}
		return trial.Why.PeerCount
	}
	for _, index := range []int{1, 2, 0} {
		for range 3 {
			evaluate(index)
		}
	}
	var received [3]int
	var last time.Time
	eventually(t, "both others listen to the best node", func() bool {
		if time.Since(last) < time.Second { // so that few evaluations are enough, however fast the machine is
			return false
		}
		last = time.Now()
		for index := range sessions {
			received[index] += evaluate(index)
		}
		return received[1] > 0 && received[2] > 0
	})
	if received[0] > 0 {
		t.Errorf("the best node has listened to %d peers", received[0])
	}
	for i, s := range sessions {
		if status := statusOf(t, s); status.SharesSent != 0 || status.SharesReceived != 0 || status.DirectMessagesSent == 0 || status.DirectMessagesReceived == 0 {
			t.Errorf("node %d: %d shares sent and %d received by gossip, %d direct messages sent and %d received", i, status.SharesSent, status.SharesReceived, status.DirectMessagesSent, status.DirectMessagesReceived)
		}
	}
}
