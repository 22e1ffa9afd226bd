package node

import (
	"cmp"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/peers"
)

// Bounds of what a hub remembers.
const (
	maxRegistrations = 4096 // a node on two tasks counts twice
	maxOfTask        = peers.MaxMembers
	maxTasksOfNode   = 16
	registrationTTL  = 10 * time.Minute // since the node last asked
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
	order   maphash.Seed // that in which it is told of groups, its own
	sentTo  uint64       // where in it the last answer ended
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
		if len(r.nodes[id]) >= maxTasksOfNode {
			return false
		}
		if r.count >= maxRegistrations {
			r.expireAll(now)
		}
		if r.count >= maxRegistrations {
			r.makeRoom(r.tasks, group)
		}
		if len(r.tasks[task]) >= maxOfTask {
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
	renewed, known := r.tasks[task][id]
	if !known {
		renewed.order = maphash.MakeSeed()
	}
	renewed.sealed, renewed.group, renewed.expires = sealed, group, now.Add(registrationTTL)
	r.tasks[task][id] = renewed
	return true
}

// others returns up to count records of other nodes on a task, of each group about as many.
// Whom of a group is left to chance, and so is the order of the groups, which who has
// registered goes through from answer to answer: whoever has many groups keeps nobody from
// being told of the rest.
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
	own, registered := r.tasks[task][asking]
	if !registered {
		own.order = maphash.MakeSeed()
	}
	rounds := map[string]int{}
	type ranked struct {
		round       int    // how many of its group come before
		reservation uint64 // of the group in the order
		sealed      []byte
	}
	var ranks []ranked
	for _, other := range found {
		ranks = append(ranks, ranked{rounds[other.group], maphash.String(own.order, other.group), other.sealed})
		rounds[other.group]++
	}
	slices.SortFunc(ranks, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.reservation-own.sentTo-1, b.reservation-own.sentTo-1)) // round the circle, from the last
	})
	ranks = ranks[:min(count, len(ranks))]
	if registered && len(ranks) > 0 {
		own.sentTo = ranks[len(ranks)-1].reservation
		r.tasks[task][asking] = own
	}
	var records [][]byte
	for _, other := range ranks {
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
