package gossip

import (
	"fmt"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multihash"

	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/node/internal/peers"
)

// topicOf is a well-formed topic for each number.
func topicOf(t testing.TB, number int) string {
	t.Helper()
	hash, err := multihash.Sum(fmt.Append(nil, number), multihash.SHA2_256, -1)
	if err != nil {
		t.Fatal(err)
	}
	return peers.TopicName(cid.NewCidV1(cid.Raw, hash).String())
}

// newInspector returns an inspector that reports to its policy.
func newInspector() *inspector {
	policy := access.NewPolicy(peers.Config{})
	return &inspector{policy, newValidationCache(), func(id peer.ID, weight int, _ error) { policy.Violated(time.Now(), id, weight) }}
}

func isBanned(i *inspector, id peer.ID) bool { return i.policy.Banned(time.Now(), id) }

// A node on many tasks that joins and leaves is no violation. A peer that announces without limit is
// banned, and its messages are then dropped.
func TestWhoAnnouncesWithoutEndIsBanned(t *testing.T) {
	n := newInspector()
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
	if err == nil || !isBanned(n, "hostile") || isBanned(n, "honest") {
		t.Errorf("%v, banned: %v, the honest one: %v", err, isBanned(n, "hostile"), isBanned(n, "honest"))
	}
	if err := n.inspect("hostile", &pubsub.RPC{}); err == nil {
		t.Error("a banned peer is heard")
	}
}

// Gossip does not see what a peer relays above its budget, so that it takes it from another. A peer that
// joins and leaves without limit is banned.
func TestWhatIsAboveABudgetDoesNotPassForSeen(t *testing.T) {
	n := newInspector()
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
	n.policy.JoinTopic(topic)
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
	if !isBanned(n, "restless") {
		t.Error("who comes and goes without end is not banned")
	}
}

// A long topic name counts as several announcements, since reading it costs as much.
func TestNamesCountByTheirLength(t *testing.T) {
	long, comes := string(make([]byte, 1<<16)), true
	if got := announcements([]*pb.RPC_SubOpts{{Topicid: &long, Subscribe: &comes}}); got != 1+1<<16/announcedBytes {
		t.Errorf("a name of 64 KiB counts as %d", got)
	}
	if name := peers.TopicName(string(make([]byte, 128))); announcements([]*pb.RPC_SubOpts{{Topicid: &name}}) != 1 {
		t.Error("the name of a task counts more than once")
	}
}
