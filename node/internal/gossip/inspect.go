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

// subscriptionFilter makes gossip remember those subscriptions of peers that the policy keeps.
type subscriptionFilter struct{ policy *peers.Policy }

var _ pubsub.SubscriptionFilter = subscriptionFilter{}

// CanSubscribe implements pubsub.SubscriptionFilter; the node may subscribe to any topic.
func (subscriptionFilter) CanSubscribe(string) bool { return true }

// FilterIncomingSubscriptions implements pubsub.SubscriptionFilter. It returns no error, since that
// would drop the rest of the message as well.
func (f subscriptionFilter) FilterIncomingSubscriptions(from peer.ID, announced []*pb.RPC_SubOpts) (kept []*pb.RPC_SubOpts, _ error) {
	for _, a := range announced {
		if f.policy.Subscribed(from, a.GetTopicid(), a.GetSubscribe()) {
			kept = append(kept, a)
		}
	}
	return kept, nil
}

// admissionOptions returns the options by which gossip exchanges no messages with peers that have not
// proven an invitation. The filter keeps them out of meshes, and most messages and message IDs from
// them. Gossip sends a node's own messages to all peers on the topic, and some message IDs, without
// the filter, but only to peers with a sufficient score. The score, to which nothing else
// contributes, is therefore 0, or -1 for these peers. exitHost removes messages that are queued for
// a peer before it has a score.
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
			DecayInterval:     time.Minute, // of scores that are not used
			DecayToZero:       0.5,
		}, &pubsub.PeerScoreThresholds{GossipThreshold: threshold, PublishThreshold: threshold, GraylistThreshold: threshold}),
	}
}

// ownMoves counts how often a message joins or leaves the node's own topics.
func (i *inspector) ownMoves(announced []*pb.RPC_SubOpts) (count int) {
	for _, a := range announced {
		if i.policy.IsOwnTopic(a.GetTopicid()) {
			count++
		}
	}
	return count
}

// announcedBytes is how long the name of a topic may be to count as one; longer ones count
// as several, since reading them takes longer.
const announcedBytes = 256

func announcements(announced []*pb.RPC_SubOpts) (count int) {
	for _, a := range announced {
		count += 1 + len(a.GetTopicid())/announcedBytes
	}
	return count
}

// inspector decides on the messages that peers send, before gossip reads them.
type inspector struct {
	policy  *peers.Policy
	checked *validationCache
	report  func(id peer.ID, weight int, why error) // of violations
}

// inspect drops the messages of peers that are not on the allow list, also with a Host of the user's,
// whose connections have no gate, and of banned ones. It reports peers that announce subscriptions
// without limit, since reading these costs a processor. From other messages it removes shares that
// gossip then does not count as seen, so that another peer can deliver them: shares of a task whose
// invitation the peer has not proven, which is no violation, since this node's own proof may have been
// the first; those above what a peer may relay; and those whose signatures exceed the budget of checks.
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

// blacklist drops the gossip of peers that are banned or not authorised, from every relaying peer.
type blacklist struct{ policy *peers.Policy }

var _ pubsub.Blacklist = blacklist{}

// Add implements pubsub.Blacklist; it has no effect.
func (blacklist) Add(peer.ID) bool { return false }

// Contains implements pubsub.Blacklist.
func (b blacklist) Contains(id peer.ID) bool {
	return b.policy.Refused(time.Now(), id)
}
