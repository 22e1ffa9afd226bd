package peers

import (
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/taskref"
)

const (
	MaxTopics   = 16 // of a peer that are remembered, beside those of the node's own tasks
	topicPrefix = "/fbo/task/1/"
	maxAdmitted = 4096 // peers with a proof that are remembered of a topic; one that was removed proves the invitation again
)

// TopicName returns the gossip topic of a task.
func TopicName(task string) string { return topicPrefix + task }

// isTopic reports whether TopicName may return a name.
func isTopic(name string) bool {
	task, ok := strings.CutPrefix(name, topicPrefix)
	return ok && taskref.IsID(task)
}

// topics decides which of the peers' subscriptions gossip remembers: all to topics of the node's
// own, and of each peer a few to others. By itself gossip remembers all names that a peer makes up.
//
// If a peer is on more than MaxTopics other tasks, the rest is unknown. If the node joins one of
// these later, the peer learns of the node, but the node learns of the peer only when they connect
// anew.
type topics struct {
	own        map[string]bool
	others     map[peer.ID]map[string]bool // of the connected peers
	admissions map[string]*admission       // by those own topics for which an invitation is needed
}

// admission has the peers on a topic that needs an invitation. The name of the topic is no secret,
// since gossip sends it to every peer that connects.
type admission struct {
	admitted   keySet[peer.ID]  // have proven the invitation, connected or not
	unadmitted map[peer.ID]bool // are connected and on the topic, without proof
}

func newTopics() topics {
	return topics{map[string]bool{}, map[peer.ID]map[string]bool{}, map[string]*admission{}}
}

// Subscribed reports whether to note that a peer joins or leaves a topic.
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
		return true // gossip ignores what it does not know
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

// IsOwnTopic reports whether the node is on a topic.
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

// RequireInvitation makes a topic need an invitation, before the node joins it.
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

// forget is called when the last connection with a peer is gone.
func (t *topics) forget(id peer.ID) {
	delete(t.others, id)
	for _, d := range t.admissions {
		delete(d.unadmitted, id)
	}
}

// Admit records that a peer has proven a topic's invitation, and reports whether it is the first
// time.
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

// Admitted reports whether a node may exchange messages of a topic with a peer.
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
