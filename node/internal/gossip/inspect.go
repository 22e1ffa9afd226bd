package gossip

import (
	"errors"
	"fmt"
	"slices"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/peers"
)

var errTooManySubscriptions = errors.New("announces more subscriptions than a node needs")

// subscriptionFilter passes to gossipsub only the subscriptions of peers that the policy keeps.
type subscriptionFilter struct{ policy *peers.Policy }

var _ pubsub.SubscriptionFilter = subscriptionFilter{}

// CanSubscribe implements pubsub.SubscriptionFilter. The node itself may subscribe to any topic.
func (subscriptionFilter) CanSubscribe(string) bool { return true }

// FilterIncomingSubscriptions implements pubsub.SubscriptionFilter. It never returns an error,
// because gossipsub would then drop the rest of the message as well.
func (f subscriptionFilter) FilterIncomingSubscriptions(from peer.ID, announced []*pb.RPC_SubOpts) (kept []*pb.RPC_SubOpts, _ error) {
	for _, a := range announced {
		if f.policy.Subscribed(from, a.GetTopicid(), a.GetSubscribe()) {
			kept = append(kept, a)
		}
	}
	return kept, nil
}

// admissionOptions returns the options that keep gossipsub from exchanging a topic's messages with
// peers that have not proven its invitation. The peer filter keeps these peers out of meshes, and
// most messages and message IDs from them.
//
// Gossipsub bypasses the filter for a node's own messages, which it sends to all peers on the
// topic, and for some message IDs. But these go only to peers with a sufficient score. So the score
// is -1 for unadmitted peers and 0 for others; nothing else contributes to it. exitHost removes
// messages that gossipsub queues for a peer before the peer has a score.
func admissionOptions(policy *peers.Policy) []pubsub.Option {
	const threshold = -0.5
	return []pubsub.Option{
		pubsub.WithPeerFilter(policy.Admitted),
		pubsub.WithPeerScore(&pubsub.PeerScoreParams{
			AppSpecificScore: func(id peer.ID) float64 {
				if policy.Unadmitted(id) {
					return -1
				}
				return 0
			},
			AppSpecificWeight: 1,
			DecayInterval:     time.Minute, // interval at which scores decay; no score here does
			DecayToZero:       0.5,
		}, &pubsub.PeerScoreThresholds{GossipThreshold: threshold, PublishThreshold: threshold, GraylistThreshold: threshold}),
	}
}

// ownMoves returns the number of subscriptions and unsubscriptions to the node's own topics.
func (i *inspector) ownMoves(announced []*pb.RPC_SubOpts) (count int) {
	for _, a := range announced {
		if i.policy.IsOwnTopic(a.GetTopicid()) {
			count++
		}
	}
	return count
}

// announcedBytes is the length of a topic's name that counts as one announcement. Longer names
// count as several, since reading them takes longer.
const announcedBytes = 256

func announcements(announced []*pb.RPC_SubOpts) (count int) {
	for _, a := range announced {
		count += 1 + len(a.GetTopicid())/announcedBytes
	}
	return count
}

// inspector filters the RPCs of peers before gossipsub reads them.
type inspector struct {
	policy  *peers.Policy
	checked *validationCache
	report  func(id peer.ID, weight int, why error) // records a peer's violation
}

// inspect drops RPCs of banned peers and of peers that are not on the allow list. A Host of the
// user has no gate, so such peers may be connected. It also drops RPCs with too many subscriptions,
// since reading these costs time, and reports their senders.
//
// From all other RPCs it removes three kinds of messages, which gossipsub then does not count as
// seen, so that another peer can deliver them:
//   - messages of a task whose invitation the sender has not proven. This is no violation, since the
//     sender may have admitted this node first;
//   - messages above the sender's relay rate;
//   - messages whose signature checks exceed the budget.
func (i *inspector) inspect(from peer.ID, rpc *pubsub.RPC) error {
	if !i.policy.MayTakePart(from) {
		return fmt.Errorf("%v is not on the list of nodes that may take part", from)
	}
	if i.policy.Banned(time.Now(), from) {
		return fmt.Errorf("%v is banned for now", from)
	}
	if announced := rpc.GetSubscriptions(); len(announced) > 0 {
		if !i.policy.Allow(time.Now(), from, peers.Announce, announcements(announced)) || !i.policy.Allow(time.Now(), from, peers.TopicChurn, i.ownMoves(announced)) {
			i.report(from, peers.MaxViolations, errTooManySubscriptions)
			return errTooManySubscriptions
		}
	}
	rpc.Publish = slices.DeleteFunc(rpc.Publish, func(m *pb.Message) bool {
		return !i.policy.Admitted(from, m.GetTopic()) || !i.policy.Allow(time.Now(), from, peers.Relay, 1) ||
			!i.checked.has(m) && !i.policy.AllowCheck(time.Now(), from, peer.ID(m.GetFrom()))
	})
	return nil
}

// blacklist drops gossip messages of banned or unauthorised authors, whichever peer relays them,
// and all messages that such peers relay.
type blacklist struct{ policy *peers.Policy }

var _ pubsub.Blacklist = blacklist{}

// Add implements pubsub.Blacklist and has no effect: the policy decides.
func (blacklist) Add(peer.ID) bool { return false }

// Contains implements pubsub.Blacklist.
func (b blacklist) Contains(id peer.ID) bool {
	return b.policy.Refused(time.Now(), id)
}
