package node

import (
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
)

// admission has the peers on a topic that needs an invitation. The name of the topic is no secret, since
// gossip sends it to every peer that connects.
type admission struct {
	admitted   map[peer.ID]bool // have proven the invitation, connected or not
	unadmitted map[peer.ID]bool // are connected and on the topic, without proof
}

// maxAdmitted bounds the peers in inside; a peer that was dropped proves the invitation again.
const maxAdmitted = 4096

// requireInvitation makes a topic need an invitation, before the node joins it.
func (s *subscriptions) requireInvitation(topic string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.admissions == nil {
		s.admissions = map[string]*admission{}
	}
	d := &admission{admitted: map[peer.ID]bool{}, unadmitted: map[peer.ID]bool{}}
	for id, others := range s.others {
		if others[topic] {
			d.unadmitted[id] = true
		}
	}
	s.admissions[topic] = d
}

// noteSubscription records that a peer joins or leaves a topic. The caller holds the lock.
func (s *subscriptions) noteSubscription(id peer.ID, topic string, comes bool) {
	d := s.admissions[topic]
	switch {
	case d == nil:
	case !comes:
		delete(d.unadmitted, id)
	case !d.admitted[id] && s.connected(id):
		d.unadmitted[id] = true
	}
}

// admit records that a peer has proven a topic's invitation, and reports whether it is the first
// time.
func (s *subscriptions) admit(id peer.ID, topic string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.admissions[topic]
	if d == nil || d.admitted[id] {
		return false
	}
	if len(d.admitted) >= maxAdmitted {
		for other := range d.admitted {
			delete(d.admitted, other)
			break
		}
	}
	d.admitted[id] = true
	delete(d.unadmitted, id)
	return true
}

// isAdmitted reports whether a node may exchange messages of a topic with a peer.
func (s *subscriptions) isAdmitted(id peer.ID, topic string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.admissions[topic]
	return d == nil || d.admitted[id]
}

// isAdmittedToAll reports whether a peer has proven the invitations of all topics that need one.
func (s *subscriptions) isAdmittedToAll(id peer.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.admissions {
		if !d.admitted[id] {
			return false
		}
	}
	return true
}

// isUnadmitted reports whether a peer is on a topic whose invitation it has not proven.
func (s *subscriptions) isUnadmitted(id peer.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.admissions {
		if d.unadmitted[id] {
			return true
		}
	}
	return false
}

// admissionOptions returns the options by which gossip exchanges no messages with peers outside. The filter
// keeps them out of meshes, and most messages and message IDs from them. Gossip sends a node's own
// messages to all peers on the topic, and some message IDs, without the filter, but only to peers
// with a sufficient score. The score, to which nothing else contributes, is therefore 0, or -1 for
// peers outside. gossipHost removes messages that are queued for a peer before it has a score.
func (s *subscriptions) admissionOptions() []pubsub.Option {
	const threshold = -0.5
	return []pubsub.Option{
		pubsub.WithPeerFilter(s.isAdmitted),
		pubsub.WithPeerScore(&pubsub.PeerScoreParams{
			AppSpecificScore: func(id peer.ID) float64 {
				if s.isUnadmitted(id) {
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
