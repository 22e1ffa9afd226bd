package node

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Bounds of what a hub remembers.
const (
	mostRegistrations = 4096 // a node on two tasks counts twice
	mostOfTask        = mostMembers
	mostTasksOfNode   = 16
	registrationTTL   = 10 * time.Minute // since the node last asked
)

// registry is what a hub knows: which nodes work on which task, and how they say
// they can be reached. A registration ends with the node's connection, so that
// there are never more than the connected nodes account for. When there is no
// room, a newcomer gets to know others without being made known itself.
type registry struct {
	mu    sync.Mutex
	tasks map[string]map[peer.ID]registration
	nodes map[peer.ID]map[string]bool // the tasks of each
	count int
}

type registration struct {
	sealed  []byte // the node's peer record; nil: others are not told of it
	expires time.Time
}

func newRegistry() *registry {
	return &registry{tasks: map[string]map[peer.ID]registration{}, nodes: map[peer.ID]map[string]bool{}}
}

// register notes or renews that a node works on a task; false when there is no
// room.
func (r *registry) register(task string, id peer.ID, sealed []byte, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(task, now)
	if !r.nodes[id][task] {
		if r.count >= mostRegistrations {
			r.expireAll(now)
		}
		if r.count >= mostRegistrations || len(r.tasks[task]) >= mostOfTask || len(r.nodes[id]) >= mostTasksOfNode {
			return false
		}
		if r.tasks[task] == nil {
			r.tasks[task] = map[peer.ID]registration{}
		}
		if r.nodes[id] == nil {
			r.nodes[id] = map[string]bool{}
		}
		r.nodes[id][task] = true
		r.count++
	}
	r.tasks[task][id] = registration{sealed: sealed, expires: now.Add(registrationTTL)}
	return true
}

// others returns up to count records of other nodes on a task, at random.
func (r *registry) others(task string, asking peer.ID, count int, now time.Time) [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(task, now)
	var records [][]byte
	for id, other := range r.tasks[task] {
		if id != asking && other.sealed != nil {
			records = append(records, other.sealed)
		}
	}
	rand.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	return records[:min(count, len(records))]
}

// together tells whether two nodes work on a common task.
func (r *registry) together(a, b peer.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for task := range r.nodes[a] {
		if r.nodes[b][task] {
			return true
		}
	}
	return false
}

// forget ends all registrations of a node.
func (r *registry) forget(id peer.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for task := range r.nodes[id] {
		r.remove(task, id)
	}
}

// The rest is called with the lock held.

func (r *registry) expire(task string, now time.Time) {
	for id, other := range r.tasks[task] {
		if !now.Before(other.expires) {
			r.remove(task, id)
		}
	}
}

func (r *registry) expireAll(now time.Time) {
	for task := range r.tasks {
		r.expire(task, now)
	}
}

func (r *registry) remove(task string, id peer.ID) {
	delete(r.tasks[task], id)
	if len(r.tasks[task]) == 0 {
		delete(r.tasks, task)
	}
	delete(r.nodes[id], task)
	if len(r.nodes[id]) == 0 {
		delete(r.nodes, id)
	}
	r.count--
}
