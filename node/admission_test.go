package node

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"
)

// Whatever peers announce, withdraw and prove, in whatever order: who has not proven the
// invitation is not heard on the topic, is outside while it is there, and nobody else is.
func TestInvitationGate(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := everybodyConnected()
		shut, open := topicOf(t, 1), topicOf(t, 2)
		joined := false
		on, proven := map[peer.ID]bool{}, map[peer.ID]bool{}
		for range rapid.IntRange(1, 30).Draw(r, "steps") {
			id := peer.ID(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "peer"))
			switch rapid.SampledFrom([]string{"come", "go", "prove", "join", "disconnect"}).Draw(r, "step") {
			case "come":
				s.announce(t, id, true, shut, open)
				on[id] = true
			case "go":
				s.announce(t, id, false, shut)
				on[id] = false
			case "prove":
				if first := s.admit(id, shut); first != (joined && !proven[id]) {
					r.Fatalf("%s is let in: %v", id, first)
				}
				proven[id] = proven[id] || joined
			case "join":
				if !joined {
					s.requireInvitation(shut)
					s.joined(shut)
				}
				joined = true
			case "disconnect":
				s.forget(id)
				on[id] = false
			}
			for _, id := range []peer.ID{"a", "b", "c"} {
				if got, want := s.isAdmitted(id, shut), !joined || proven[id]; got != want {
					r.Fatalf("%s may hear: %v, want %v", id, got, want)
				}
				if got, want := s.isUnadmitted(id), joined && on[id] && !proven[id]; got != want {
					r.Fatalf("%s is outside: %v, want %v", id, got, want)
				}
				if !s.isAdmitted(id, open) {
					r.Fatalf("%s may not hear on an open task", id)
				}
			}
		}
		s.left(shut)
		if s.isUnadmitted("a") || !s.isAdmitted("a", shut) {
			r.Fatal("the door is there after the node has left")
		}
	})
}

func TestDoorsRememberABoundedNumber(t *testing.T) {
	s := everybodyConnected()
	topic := topicOf(t, 1)
	s.requireInvitation(topic)
	s.joined(topic)
	for i := range 2 * maxAdmitted {
		s.admit(peer.ID(fmt.Sprint(i)), topic)
	}
	if n := len(s.admissions[topic].admitted); n != maxAdmitted {
		t.Errorf("%d are remembered", n)
	}
}
