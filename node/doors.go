package node

import (
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
)

// door is who is at a topic for which an invitation is needed: the topic's name alone
// keeps nobody out, since gossip tells it to everybody who connects.
type door struct {
	inside  map[peer.ID]bool // have proven the invitation, for good: connected or not
	outside map[peer.ID]bool // are connected and on the topic, and have not
}

// mostInside bounds who is remembered; whoever is forgotten proves anew.
const mostInside = 4096

// shut makes one of the topics that are about to be joined need an invitation.
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

// knocks notes that a peer comes to a topic or goes. The caller holds the lock.
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

// letIn notes that a peer has proven a topic's invitation; true for the first time.
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

// mayHear tells whether a peer may be spoken to on a topic, and be heard there.
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

// isOutside tells whether a peer is at a topic whose invitation it has not proven.
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

// keepOut are the options by which gossip tells those outside nothing and takes nothing
// from them. The filter keeps them out of meshes, and message IDs and single messages from
// them. What a node writes itself gossip sends to all on the topic, and some get the IDs
// of messages, without asking the filter, but only to peers whose score is high enough. So
// the score, which nothing else is counted into, is 0, or -1 for those outside. gossipHost
// removes what is queued for a peer before it has a score.
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
