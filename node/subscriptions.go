package node

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

var errTooManySubscriptions = errors.New("announces more subscriptions than anybody has use for")

// subscriptionFilter makes gossip remember those subscriptions of peers that the policy keeps.
type subscriptionFilter struct{ policy *peers.Policy }

var _ pubsub.SubscriptionFilter = subscriptionFilter{}

// CanSubscribe implements pubsub.SubscriptionFilter; the node subscribes to what it likes.
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
// contributes, is therefore 0, or -1 for these peers. gossipHost removes messages that are queued for
// a peer before it has a score.
func (n *Node) admissionOptions() []pubsub.Option {
	const threshold = -0.5
	return []pubsub.Option{
		pubsub.WithPeerFilter(n.policy.Admitted),
		pubsub.WithPeerScore(&pubsub.PeerScoreParams{
			AppSpecificScore: func(id peer.ID) float64 {
				if n.policy.Unadmitted(id) {
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

// ownMoves counts how often a message says that its sender joins or leaves the node's own topics.
func (n *Node) ownMoves(announced []*pb.RPC_SubOpts) (count int) {
	for _, a := range announced {
		if n.policy.IsOwnTopic(a.GetTopicid()) {
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

// inspect drops gossip of those who are not heard, and breaks with whoever
// announces subscriptions without end: to read past them costs a processor. What it takes
// out of a message gossip does not see, so that it does not pass for seen when somebody else
// brings it: messages of a task by somebody who has not proven its invitation, which is no
// fault, since this node's own proof may have been the first, what is above that which a
// peer may pass on, and that for which signatures would have to be checked that no budget is
// left for.
func (n *Node) inspect(from peer.ID, rpc *pubsub.RPC) error {
	if err := n.gate.inspect(from); err != nil {
		return err
	}
	if n.isBanned(from) {
		return fmt.Errorf("%v is banned for now", from)
	}
	if announced := rpc.GetSubscriptions(); len(announced) > 0 {
		if !n.policy.Allow(time.Now(), from, peers.Announce, announcements(announced)) || !n.policy.Allow(time.Now(), from, peers.TopicChurn, n.ownMoves(announced)) {
			n.reportViolation(from, peers.MaxViolations, errTooManySubscriptions)
			return errTooManySubscriptions
		}
	}
	rpc.Publish = slices.DeleteFunc(rpc.Publish, func(m *pb.Message) bool {
		return !n.policy.Admitted(from, m.GetTopic()) || !n.policy.Allow(time.Now(), from, peers.Relay, 1) ||
			!n.checked.has(m) && !n.policy.AllowCheck(time.Now(), from, peer.ID(m.GetFrom()))
	})
	return nil
}
