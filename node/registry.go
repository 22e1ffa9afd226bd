package node

import (
	"cmp"
	"math/rand/v2"
	"slices"
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
// room, the group of nodes that has most, by the addresses that they come from, loses the
// one that was renewed longest ago: identities cost nothing.
type registry struct {
	mu    sync.Mutex
	tasks map[string]map[peer.ID]registration
	nodes map[peer.ID]map[string]bool // the tasks of each
	count int
}

type registration struct {
	sealed  []byte // the node's peer record; nil: others are not told of it
	group   string // of whom it is one
	expires time.Time
}

func newRegistry() *registry {
	return &registry{tasks: map[string]map[peer.ID]registration{}, nodes: map[peer.ID]map[string]bool{}}
}

// register notes or renews that a node works on a task; false when it works on too many.
func (r *registry) register(task string, id peer.ID, group string, sealed []byte, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(task, now)
	if !r.nodes[id][task] {
		if len(r.nodes[id]) >= mostTasksOfNode {
			return false
		}
		if r.count >= mostRegistrations {
			r.expireAll(now)
		}
		if r.count >= mostRegistrations {
			r.makeRoom(r.tasks, group)
		}
		if len(r.tasks[task]) >= mostOfTask {
			r.makeRoom(map[string]map[peer.ID]registration{task: r.tasks[task]}, group)
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
	r.tasks[task][id] = registration{sealed: sealed, group: group, expires: now.Add(registrationTTL)}
	return true
}

// others returns up to count records of other nodes on a task, at random and of each group
// about as many.
func (r *registry) others(task string, asking peer.ID, count int, now time.Time) [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(task, now)
	var found []registration
	for id, other := range r.tasks[task] {
		if id != asking && other.sealed != nil {
			found = append(found, other)
		}
	}
	rand.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	rounds := map[string]int{}
	type ranked struct {
		round  int // how many of its group come before
		sealed []byte
	}
	var ranks []ranked
	for _, other := range found {
		ranks = append(ranks, ranked{rounds[other.group], other.sealed})
		rounds[other.group]++
	}
	slices.SortStableFunc(ranks, func(a, b ranked) int { return cmp.Compare(a.round, b.round) })
	var records [][]byte
	for _, other := range ranks[:min(count, len(ranks))] {
		records = append(records, other.sealed)
	}
	return records
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

// makeRoom ends the registration that was renewed longest ago in the largest group on some
// tasks. That is the newcomer's own when, with it, no other is larger.
func (r *registry) makeRoom(tasks map[string]map[peer.ID]registration, newcomer string) {
	counts := map[string]int{newcomer: 1}
	for _, nodes := range tasks {
		for _, other := range nodes {
			counts[other.group]++
		}
	}
	most := 0
	for _, count := range counts {
		most = max(most, count)
	}
	own := counts[newcomer] == most && most > 1
	var fromTask string
	var from peer.ID
	var earliest time.Time
	for task, nodes := range tasks {
		for id, other := range nodes {
			loses := counts[other.group] == most && (!own || other.group == newcomer)
			if loses && (from == "" || other.expires.Before(earliest)) {
				fromTask, from, earliest = task, id, other.expires
			}
		}
	}
	r.remove(fromTask, from)
}

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
