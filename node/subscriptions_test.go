package node

import (
	"fmt"
	"testing"

	"github.com/ipfs/go-cid"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multihash"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/tasknames"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/strategy/all"
)

// topicOf is a well-formed topic for each number.
func topicOf(t testing.TB, number int) string {
	t.Helper()
	hash, err := multihash.Sum(fmt.Append(nil, number), multihash.SHA2_256, -1)
	if err != nil {
		t.Fatal(err)
	}
	return topicName(cid.NewCidV1(cid.Raw, hash).String())
}

func everybodyConnected() *subscriptions {
	return &subscriptions{
		connected: func(peer.ID) bool { return true }, own: map[string]bool{}, others: map[peer.ID]map[string]bool{},
	}
}

// announce returns the topics whose announcement reaches gossip.
func (s *subscriptions) announce(t testing.TB, from peer.ID, comes bool, topics ...string) (kept []string) {
	t.Helper()
	var announced []*pb.RPC_SubOpts
	for _, topic := range topics {
		announced = append(announced, &pb.RPC_SubOpts{Topicid: &topic, Subscribe: &comes})
	}
	passed, err := s.FilterIncomingSubscriptions(from, announced)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range passed {
		kept = append(kept, a.GetTopicid())
	}
	return kept
}

func TestSubscriptionsOfAPeerOnManyTasks(t *testing.T) {
	s := everybodyConnected()
	s.joined(topicOf(t, 99))
	var topics []string
	for i := range 100 {
		topics = append(topics, topicOf(t, i))
	}
	if kept := s.announce(t, "peer", true, topics...); len(kept) != maxTopics+1 || kept[maxTopics] != topics[99] {
		t.Errorf("of 99 others and an own topic %d are noted", len(kept))
	}
	if kept := s.announce(t, "another", true, topics[50]); len(kept) != 1 {
		t.Error("one peer's topics take the places of another's")
	}
	s.announce(t, "peer", false, topics[0])
	if kept := s.announce(t, "peer", true, topics[50:60]...); len(kept) != 1 {
		t.Errorf("after one has gone %d have its place", len(kept))
	}
	s.joined(topics[1])
	if kept := s.announce(t, "peer", true, topics[60:70]...); len(kept) != 1 {
		t.Errorf("after the node has joined one of them %d have its place", len(kept))
	}
	s.left(topics[99])
	if kept := s.announce(t, "another", true, topics[99]); len(kept) != 1 {
		t.Error("a topic that was the node's own is none of the others")
	}
	s.forget("peer")
	if kept := s.announce(t, "peer", true, topics[20:]...); len(kept) != maxTopics {
		t.Errorf("after the peer has come back %d are noted", len(kept))
	}
}

func TestSubscriptionsThatAreNotNoted(t *testing.T) {
	s := everybodyConnected()
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
	s.connected = func(peer.ID) bool { return false }
	if kept := s.announce(t, "gone", true, good); kept != nil || len(s.others) != 1 {
		t.Error("of a peer that is gone something is noted")
	}
}

// Whatever peers announce, of each at most so many topics are remembered, and the
// node's own always.
func TestSubscriptionsAreBounded(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := everybodyConnected()
		held := map[peer.ID]map[string]bool{} // by gossip
		for range rapid.IntRange(1, 200).Draw(r, "steps") {
			topic := topicOf(t, rapid.IntRange(0, 40).Draw(r, "topic"))
			id := peer.ID(rapid.SampledFrom([]string{"a", "b"}).Draw(r, "peer"))
			switch what := rapid.IntRange(0, 9).Draw(r, "what"); what {
			case 0:
				s.joined(topic)
			case 1:
				s.left(topic)
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
				if s.own[topic] && what > 3 && !held[id][topic] {
					r.Fatal("an own topic is not noted")
				}
			}
			for id, topics := range s.others {
				if len(topics) > maxTopics {
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

// A node on many tasks that comes and goes does nothing wrong; who announces
// without end is banned, and then not heard.
func TestWhoAnnouncesWithoutEndIsBanned(t *testing.T) {
	n := &Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	many := func(count int) *pubsub.RPC {
		rpc := &pubsub.RPC{}
		for i := range count {
			topic, comes := topicOf(t, i), true
			rpc.Subscriptions = append(rpc.Subscriptions, &pb.RPC_SubOpts{Topicid: &topic, Subscribe: &comes})
		}
		return rpc
	}
	for range 20 {
		if err := n.inspect("honest", many(200)); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	for range 10 {
		err = n.inspect("hostile", many(1000))
	}
	if err == nil || !n.isBanned("hostile") || n.isBanned("honest") {
		t.Errorf("%v, banned: %v, the honest one: %v", err, n.isBanned("hostile"), n.isBanned("honest"))
	}
	if err := n.inspect("hostile", &pubsub.RPC{}); err == nil {
		t.Error("a banned peer is heard")
	}
}

// What a peer passes on above its budget gossip does not see, so that it is taken from
// another; whoever comes and goes without end is banned.
func TestWhatIsAboveABudgetDoesNotPassForSeen(t *testing.T) {
	n := &Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	topic := topicOf(t, 1)
	messages := func(count int) *pubsub.RPC {
		rpc := &pubsub.RPC{}
		for range count {
			rpc.Publish = append(rpc.Publish, &pb.Message{Topic: &topic})
		}
		return rpc
	}
	n.policy.Name("relayer", "honest") // to whom the budget of all does not apply
	flood, honest := messages(peers.RelayBurst+500), messages(500)
	for _, err := range []error{n.inspect("relayer", flood), n.inspect("honest", honest)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(flood.Publish) < peers.RelayBurst || len(flood.Publish) >= peers.RelayBurst+500 || len(honest.Publish) != 500 {
		t.Errorf("gossip sees %d messages of a flood and %d of somebody else", len(flood.Publish), len(honest.Publish))
	}
	n.follows.joined(topic)
	moves := &pubsub.RPC{}
	for i := range 300 {
		comes := i%2 == 0
		moves.Subscriptions = append(moves.Subscriptions, &pb.RPC_SubOpts{Topicid: &topic, Subscribe: &comes})
	}
	for i := range 3 {
		if err := n.inspect("restless", moves); (err == nil) != (i < peers.TopicChurnBurst/300) {
			t.Errorf("coming and going, message %d: %v", i+1, err)
		}
	}
	if !n.isBanned("restless") {
		t.Error("who comes and goes without end is not banned")
	}
}

// A long topic name counts as several announcements, since reading it costs as much.
func TestNamesCountByTheirLength(t *testing.T) {
	long, comes := string(make([]byte, 1<<16)), true
	if got := announcements([]*pb.RPC_SubOpts{{Topicid: &long, Subscribe: &comes}}); got != 1+1<<16/announcedBytes {
		t.Errorf("a name of 64 KiB counts as %d", got)
	}
	if name := topicPrefix + string(make([]byte, tasknames.MaxID)); announcements([]*pb.RPC_SubOpts{{Topicid: &name}}) != 1 {
		t.Error("the name of a task counts more than once")
	}
}
