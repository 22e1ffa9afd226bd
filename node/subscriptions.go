package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/tasknames"
	"github.com/fbo-node/fbo/node/internal/peers"
)

const (
	maxTopics   = 16 // of a peer that are remembered, beside those of the node's own tasks
	topicPrefix = "/fbo/task/1/"
)

// topicName is the gossip topic of a task.
func topicName(task string) string { return topicPrefix + task }

// isTopic tells whether topicName may return this.
func isTopic(name string) bool {
	task, ok := strings.CutPrefix(name, topicPrefix)
	return ok && tasknames.IsID(task)
}

var errTooManySubscriptions = errors.New("announces more subscriptions than anybody has use for")

// subscriptions decides which of the peers' subscriptions gossip remembers: all to
// topics of the node's own, and of each peer a few to others. Left to itself, gossip
// remembers whatever names a peer makes up.
//
// Of a peer on more than maxTopics other tasks the rest is unknown: should the
// node join one of these later, the peer learns of the node and not the node of the
// peer, until they connect anew.
type subscriptions struct {
	connected func(peer.ID) bool

	mu         sync.Mutex
	own        map[string]bool
	others     map[peer.ID]map[string]bool // of the connected peers
	admissions map[string]*admission       // by those own topics for which an invitation is needed
}

var _ pubsub.SubscriptionFilter = (*subscriptions)(nil)

// CanSubscribe implements pubsub.SubscriptionFilter; the node subscribes to what
// it likes.
func (*subscriptions) CanSubscribe(string) bool { return true }

// FilterIncomingSubscriptions implements pubsub.SubscriptionFilter. It returns no
// error, since that would drop the rest of the message as well.
func (s *subscriptions) FilterIncomingSubscriptions(from peer.ID, announced []*pb.RPC_SubOpts) ([]*pb.RPC_SubOpts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var kept []*pb.RPC_SubOpts
	for _, a := range announced {
		if s.keep(from, a.GetTopicid(), a.GetSubscribe()) {
			kept = append(kept, a)
		}
	}
	return kept, nil
}

// keep tells whether a peer's coming to a topic, or its going, is noted. The caller
// holds the lock.
func (s *subscriptions) keep(from peer.ID, topic string, comes bool) bool {
	others := s.others[from]
	switch {
	case !comes:
		delete(others, topic)
		s.noteSubscription(from, topic, false)
		return true // gossip passes over what it does not know
	case s.own[topic]:
		s.noteSubscription(from, topic, true)
		return true
	case others[topic]:
		return true
	case len(others) >= maxTopics || !isTopic(topic) || !s.connected(from):
		return false
	}
	if others == nil {
		others = map[string]bool{}
		s.others[from] = others
	}
	others[topic] = true
	return true
}

// joined and left tell of the node's own topics.
func (s *subscriptions) joined(topic string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own[topic] = true
	for _, others := range s.others {
		delete(others, topic)
	}
}

func (s *subscriptions) left(topic string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.own, topic)
	delete(s.admissions, topic)
}

// forget is called when the last connection with a peer is gone.
func (s *subscriptions) forget(id peer.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.others, id)
	for _, d := range s.admissions {
		delete(d.unadmitted, id)
	}
}

// followSubscriptions makes the node's filter of subscriptions.
func (n *Node) followSubscriptions() {
	connected := func(id peer.ID) bool { return n.host.Network().Connectedness(id) != network.NotConnected }
	n.follows = &subscriptions{connected: connected, own: map[string]bool{}, others: map[peer.ID]map[string]bool{}}
	bundle := &network.NotifyBundle{DisconnectedF: func(_ network.Network, c network.Conn) {
		if !connected(c.RemotePeer()) {
			n.follows.forget(c.RemotePeer())
		}
	}}
	n.host.Network().Notify(bundle)
	n.onClose(func() error { n.host.Network().StopNotify(bundle); return nil })
}

// ownMoves counts how often a message says that its sender comes to the node's own topics or
// goes.
func (s *subscriptions) ownMoves(announced []*pb.RPC_SubOpts) (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range announced {
		if s.own[a.GetTopicid()] {
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
	now := time.Now()
	if err := n.gate.inspect(from); err != nil {
		return err
	}
	if n.isBanned(from) {
		return fmt.Errorf("%v is banned for now", from)
	}
	if announced := rpc.GetSubscriptions(); len(announced) > 0 {
		if !n.policy.Allow(now, from, peers.Announce, announcements(announced)) || !n.policy.Allow(now, from, peers.TopicChurn, n.follows.ownMoves(announced)) {
			n.reportViolation(from, peers.MaxViolations, errTooManySubscriptions)
			return errTooManySubscriptions
		}
	}
	rpc.Publish = slices.DeleteFunc(rpc.Publish, func(m *pb.Message) bool {
		return !n.follows.isAdmitted(from, m.GetTopic()) || !n.policy.Allow(now, from, peers.Relay, 1) ||
			!n.checked.has(m) && !n.policy.AllowCheck(now, from, peer.ID(m.GetFrom()))
	})
	return nil
}
