package node

import (
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
)

// door has the peers on a topic that needs an invitation. The name of the topic is no secret, since
// gossip sends it to every peer that connects.
type door struct {
	inside  map[peer.ID]bool // have proven the invitation, connected or not
	outside map[peer.ID]bool // are connected and on the topic, without proof
}

// mostInside bounds the peers in inside; a peer that was dropped proves the invitation again.
const mostInside = 4096

// shut makes a topic need an invitation, before the node joins it.
func (s *subscriptions) shut(topic string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doors == nil {
		s.doors = map[string]*door{}
	}
	d := &door{inside: map[peer.ID]bool{}, outside: map[peer.ID]bool{}}
	for id, others := range s.others {
		if others[topic] {
			d.outside[id] = true
		}
	}
	s.doors[topic] = d
}

// knocks records that a peer joins or leaves a topic. The caller holds the lock.
func (s *subscriptions) knocks(id peer.ID, topic string, comes bool) {
	d := s.doors[topic]
	switch {
	case d == nil:
	case !comes:
		delete(d.outside, id)
	case !d.inside[id] && s.connected(id):
		d.outside[id] = true
	}
}

// letIn records that a peer has proven a topic's invitation, and reports whether it is the first
// time.
func (s *subscriptions) letIn(id peer.ID, topic string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.doors[topic]
	if d == nil || d.inside[id] {
		return false
	}
	if len(d.inside) >= mostInside {
		for other := range d.inside {
			delete(d.inside, other)
			break
		}
	}
	d.inside[id] = true
	delete(d.outside, id)
	return true
}

// mayHear reports whether a node may exchange messages of a topic with a peer.
func (s *subscriptions) mayHear(id peer.ID, topic string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.doors[topic]
	return d == nil || d.inside[id]
}

// mayHearAll reports whether a peer has proven the invitations of all topics that need one.
func (s *subscriptions) mayHearAll(id peer.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.doors {
		if !d.inside[id] {
			return false
		}
	}
	return true
}

// isOutside reports whether a peer is on a topic whose invitation it has not proven.
func (s *subscriptions) isOutside(id peer.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.doors {
		if d.outside[id] {
			return true
		}
	}
	return false
}

// keepOut returns the options by which gossip exchanges no messages with peers outside. The filter
// keeps them out of meshes, and most messages and message IDs from them. Gossip sends a node's own
// messages to all peers on the topic, and some message IDs, without the filter, but only to peers
// with a sufficient score. The score, to which nothing else contributes, is therefore 0, or -1 for
// peers outside. gossipHost removes messages that are queued for a peer before it has a score.
func (s *subscriptions) keepOut() []pubsub.Option {
	const threshold = -0.5
	return []pubsub.Option{
		pubsub.WithPeerFilter(s.mayHear),
		pubsub.WithPeerScore(&pubsub.PeerScoreParams{
			AppSpecificScore: func(id peer.ID) float64 {
				if s.isOutside(id) {
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
