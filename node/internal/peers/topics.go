package peers

import (
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/taskref"
)

const (
	MaxTopics   = 16 // topics remembered for a peer, besides those of the node's own tasks
	topicPrefix = "/fbo/task/1/"
	maxAdmitted = 4096 // admitted peers remembered for a topic; a forgotten one must prove the invitation again
)

// TopicName returns the gossip topic of a task.
func TopicName(task string) string { return topicPrefix + task }

// isTopic reports whether a name has the form that TopicName returns.
func isTopic(name string) bool {
	task, ok := strings.CutPrefix(name, topicPrefix)
	return ok && taskref.IsID(task)
}

// topics decides which subscriptions of peers gossipsub stores: all to the node's own topics, and
// for each peer a few to other tasks. Otherwise gossipsub would store every name that a peer
// invents.
//
// If a peer is on more than MaxTopics other tasks, the excess is not stored. If the node later
// joins such a task, the peer learns of the node, but the node learns of the peer only at their
// next connection.
type topics struct {
	own        map[string]bool
	others     map[peer.ID]map[string]bool // other topics of each connected peer
	admissions map[string]*admission       // admissions to those own topics that need an invitation
}

// admission holds the peers of a topic that needs an invitation. The topic's name is no secret,
// since gossipsub sends it to every connected peer.
type admission struct {
	admitted   keySet[peer.ID]  // peers that have proven the invitation, connected or not
	unadmitted map[peer.ID]bool // connected peers on the topic without a proof
}

func newTopics() topics {
	return topics{map[string]bool{}, map[peer.ID]map[string]bool{}, map[string]*admission{}}
}

// Subscribed records that a peer joins or leaves a topic, and reports whether gossipsub may store
// it.
func (p *Policy) Subscribed(id peer.ID, topic string, joins bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	others, connected := p.topics.others[id], len(p.connections[id]) > 0
	switch {
	case !joins:
		delete(others, topic)
		if d := p.topics.admissions[topic]; d != nil {
			delete(d.unadmitted, id)
		}
		return true // gossipsub ignores topics that it has not stored
	case p.topics.own[topic]:
		if d := p.topics.admissions[topic]; d != nil && !d.admitted.has(id) && connected {
			d.unadmitted[id] = true
		}
		return true
	case others[topic]:
		return true
	case len(others) >= MaxTopics || !isTopic(topic) || !connected:
		return false
	}
	if others == nil {
		others = map[string]bool{}
		p.topics.others[id] = others
	}
	others[topic] = true
	return true
}

// IsOwnTopic reports whether the node itself is on a topic.
func (p *Policy) IsOwnTopic(topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.topics.own[topic]
}

// JoinTopic records that the node joins a topic.
func (p *Policy) JoinTopic(topic string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.topics.own[topic] = true
	for _, others := range p.topics.others {
		delete(others, topic)
	}
}

// LeaveTopic records that the node leaves a topic.
func (p *Policy) LeaveTopic(topic string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.topics.own, topic)
	delete(p.topics.admissions, topic)
}

// RequireInvitation makes a topic require an invitation. It must be called before the node joins
// the topic.
func (p *Policy) RequireInvitation(topic string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := &admission{unadmitted: map[peer.ID]bool{}}
	for id, others := range p.topics.others {
		if others[topic] {
			d.unadmitted[id] = true
		}
	}
	p.topics.admissions[topic] = d
}

// forget removes the subscriptions of a peer whose last connection has ended.
func (t *topics) forget(id peer.ID) {
	delete(t.others, id)
	for _, d := range t.admissions {
		delete(d.unadmitted, id)
	}
}

// Admit records that a peer has proven a topic's invitation, and reports whether this is its first
// proof.
func (p *Policy) Admit(id peer.ID, topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.topics.admissions[topic]
	if d == nil || d.admitted.has(id) {
		return false
	}
	if len(d.admitted.keys) >= maxAdmitted {
		d.admitted.removeRandom(p.random)
	}
	d.admitted.add(id)
	delete(d.unadmitted, id)
	return true
}

// Admitted reports whether the node may exchange a topic's messages with a peer.
func (p *Policy) Admitted(id peer.ID, topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.topics.admissions[topic]
	return d == nil || d.admitted.has(id)
}

// AdmittedToAll reports whether a peer has proven the invitations of all topics that need one.
func (p *Policy) AdmittedToAll(id peer.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.topics.admissions {
		if !d.admitted.has(id) {
			return false
		}
	}
	return true
}

// Unadmitted reports whether a peer is on a topic whose invitation it has not proven.
func (p *Policy) Unadmitted(id peer.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.topics.admissions {
		if d.unadmitted[id] {
			return true
		}
	}
	return false
}
