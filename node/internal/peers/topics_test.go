package peers

import (
	"fmt"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	"github.com/multiformats/go-multihash"
	"pgregory.net/rapid"
)

// topicOf returns a well-formed topic for each number.
func topicOf(t testing.TB, number int) string {
	t.Helper()
	hash, err := multihash.Sum(fmt.Append(nil, number), multihash.SHA2_256, -1)
	if err != nil {
		t.Fatal(err)
	}
	return TopicName(cid.NewCidV1(cid.Raw, hash).String())
}

// gossip is a policy all of whose peers are connected.
type gossip struct{ *Policy }

func allConnected() gossip { return gossip{New(config())} }

// announce returns the topics whose announcement reaches gossip.
func (s gossip) announce(t testing.TB, from peer.ID, comes bool, topics ...string) (kept []string) {
	t.Helper()
	s.Connected(noon, from, "open", multiaddr.StringCast("/ip4/203.0.113.7/tcp/1"), false)
	for _, topic := range topics {
		if s.Subscribed(from, topic, comes) {
			kept = append(kept, topic)
		}
	}
	return kept
}

func TestSubscriptionsOfAPeerOnManyTasks(t *testing.T) {
	s := allConnected()
	s.JoinTopic(topicOf(t, 99))
	var topics []string
	for i := range 100 {
		topics = append(topics, topicOf(t, i))
	}
	if kept := s.announce(t, "peer", true, topics...); len(kept) != MaxTopics+1 || kept[MaxTopics] != topics[99] {
		t.Errorf("of 99 others and an own topic %d are noted", len(kept))
	}
	if kept := s.announce(t, "another", true, topics[50]); len(kept) != 1 {
		t.Error("one peer's topics take the places of another's")
	}
	s.announce(t, "peer", false, topics[0])
	if kept := s.announce(t, "peer", true, topics[50:60]...); len(kept) != 1 {
		t.Errorf("after one has gone %d have its place", len(kept))
	}
	s.JoinTopic(topics[1])
	if kept := s.announce(t, "peer", true, topics[60:70]...); len(kept) != 1 {
		t.Errorf("after the node has joined one of them %d have its place", len(kept))
	}
	s.LeaveTopic(topics[99])
	if kept := s.announce(t, "another", true, topics[99]); len(kept) != 1 {
		t.Error("a topic that was the node's own is none of the others")
	}
	s.Disconnected("peer", "open")
	if kept := s.announce(t, "peer", true, topics[20:]...); len(kept) != MaxTopics {
		t.Errorf("after the peer has come back %d are noted", len(kept))
	}
}

func TestSubscriptionsThatAreNotNoted(t *testing.T) {
	s := allConnected()
	good := topicOf(t, 1)
	long := make([]byte, 1<<16)
	for _, topic := range []string{
		"", "x", "/fbo/task/1/", "/fbo/task/1/x", "/fbo/task/2/" + good[len(topicPrefix):], good + "/", good + "\x00", " " + good,
		topicPrefix + string(long),
		topicPrefix + "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG ",
		topicPrefix + "z" + good[len(topicPrefix):],
	} {
		if kept := s.announce(t, "peer", true, topic); kept != nil {
			t.Errorf("%.100q is noted", topic)
		}
	}
	if kept := s.announce(t, "peer", true, good); len(kept) != 1 {
		t.Error("what is not noted takes places")
	}
	if s.Subscribed("gone", good, true) || len(s.topics.others) != 1 {
		t.Error("of a peer that is gone something is noted")
	}
}

// TestSubscriptionsAreBounded checks the number of remembered topics of each peer after random
// announcements, and that the node's own topics are always noted.
func TestSubscriptionsAreBounded(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := allConnected()
		held := map[peer.ID]map[string]bool{} // by gossip
		for range rapid.IntRange(1, 200).Draw(r, "steps") {
			topic := topicOf(t, rapid.IntRange(0, 40).Draw(r, "topic"))
			id := peer.ID(rapid.SampledFrom([]string{"a", "b"}).Draw(r, "peer"))
			switch what := rapid.IntRange(0, 9).Draw(r, "what"); what {
			case 0:
				s.JoinTopic(topic)
			case 1:
				s.LeaveTopic(topic)
			default:
				if held[id] == nil {
					held[id] = map[string]bool{}
				}
				kept := s.announce(t, id, what > 3, topic)
				for _, k := range kept {
					if held[id][k] = true; what <= 3 {
						delete(held[id], k)
					}
				}
				if s.topics.own[topic] && what > 3 && !held[id][topic] {
					r.Fatal("an own topic is not noted")
				}
			}
			for id, topics := range s.topics.others {
				if len(topics) > MaxTopics {
					r.Fatalf("%d of %s", len(topics), id)
				}
				for topic := range topics {
					if !held[id][topic] {
						r.Fatal("counted, and not noted")
					}
				}
			}
		}
	})
}

// TestInvitationGate checks in random orders of announcements and proofs that exactly the peers with a
// proof are admitted, and that exactly the peers on the topic without one are unadmitted.
func TestInvitationGate(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := allConnected()
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
				if first := s.Admit(id, shut); first != (joined && !proven[id]) {
					r.Fatalf("%s is admitted for the first time: %v", id, first)
				}
				proven[id] = proven[id] || joined
			case "join":
				if !joined {
					s.RequireInvitation(shut)
					s.JoinTopic(shut)
				}
				joined = true
			case "disconnect":
				s.Disconnected(id, "open")
				on[id] = false
			}
			for _, id := range []peer.ID{"a", "b", "c"} {
				if got, want := s.Admitted(id, shut), !joined || proven[id]; got != want {
					r.Fatalf("%s is admitted: %v, want %v", id, got, want)
				}
				if got, want := s.Unadmitted(id), joined && on[id] && !proven[id]; got != want {
					r.Fatalf("%s is unadmitted: %v, want %v", id, got, want)
				}
				if !s.Admitted(id, open) {
					r.Fatalf("%s is not admitted to an open task", id)
				}
			}
		}
		s.LeaveTopic(shut)
		if s.Unadmitted("a") || !s.Admitted("a", shut) {
			r.Fatal("the admission exists after the node has left")
		}
	})
}

func TestAdmissionsAreBounded(t *testing.T) {
	s := allConnected()
	topic := topicOf(t, 1)
	s.RequireInvitation(topic)
	s.JoinTopic(topic)
	for i := range 2 * maxAdmitted {
		s.Admit(peer.ID(fmt.Sprint(i)), topic)
	}
	if n := len(s.topics.admissions[topic].admitted.places); n != maxAdmitted {
		t.Errorf("%d are remembered", n)
	}
}
