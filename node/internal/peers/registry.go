package peers

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/protocol"
)

// Bounds of a hub's stored data.
const (
	MaxRegistrations = 4096 // a node on two tasks counts twice
	MaxOfTask        = MaxMembers
	MaxTasksOfNode   = 16
	RegistrationTTL  = 10 * time.Minute // since the node last asked
)

// registry is what a hub knows: which nodes work on which task, and their signed addresses. A registration ends with the node's connection, so that there are never more than the
// connected nodes account for. When there is no room, the group with the most nodes loses the
// registration that was renewed longest ago: identities cost nothing.
type registry struct {
	random *rand.Rand
	tasks  map[string]map[peer.ID]registration
	nodes  map[peer.ID]map[string]bool // the tasks of each
	count  int
}

type registration struct {
	record  []byte // the node's peer record; nil: it is introduced to no other
	group   string
	expires time.Time
	order   uint64 // a secret of the order in which groups are introduced to the node
	sentTo  uint64 // where in it the last answer ended
}

func newRegistry(random *rand.Rand) registry {
	return registry{random: random, tasks: map[string]map[peer.ID]registration{}, nodes: map[peer.ID]map[string]bool{}}
}

// Registration is what became of one.
type Registration struct {
	Refused bool // the node works on too many tasks
	Hidden  bool // the node is introduced to no other, since it is not at its addresses
}

// Register notes or renews that a node works on a task. The node has a valid record, and asks over a
// connection at an address.
func (p *Policy) Register(now time.Time, task string, id peer.ID, from multiaddr.Multiaddr, record []byte) Registration {
	hidden := !p.isAt(record, from)
	if hidden {
		record = nil
	}
	now = p.lock(now)
	defer p.mu.Unlock()
	return Registration{Refused: !p.registry.register(task, id, p.group(id), record, now), Hidden: hidden}
}

// Introduce returns up to count records of other nodes on a task.
func (p *Policy) Introduce(now time.Time, task string, asking peer.ID, count int) [][]byte {
	now = p.lock(now)
	defer p.mu.Unlock()
	return p.registry.others(task, asking, count, now)
}

// Together reports whether two nodes work on a common task.
func (p *Policy) Together(a, b peer.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.registry.together(a, b)
}

// Registrations returns how many there are.
func (p *Policy) Registrations() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.registry.count
}

// isAt reports whether one of the addresses in a record is where the hub sees the node, is one
// through the hub, or, where the hub is reached in a private network, is private too. Without this,
// others would dial a third party's address.
func (p *Policy) isAt(sealed []byte, seen multiaddr.Multiaddr) bool {
	record, err := protocol.OpenRecord(sealed)
	if err != nil {
		return false
	}
	from, known := IP(seen)
	private := ScopeOf(seen) != Global
	through := CircuitThrough(p.self)
	for _, a := range record.Addrs {
		ip, ok := IP(a)
		switch {
		case IsCircuit(a) && strings.HasSuffix(a.String(), through.String()):
			return true
		case IsCircuit(a):
		case ok && known && ip == from, private && ScopeOf(a) != Global:
			return true
		}
	}
	return false
}

// register notes or renews that a node works on a task; false when it works on too many.
func (r *registry) register(task string, id peer.ID, group string, record []byte, now time.Time) bool {
	r.expire(task, now)
	if !r.nodes[id][task] {
		if len(r.nodes[id]) >= MaxTasksOfNode {
			return false
		}
		if r.count >= MaxRegistrations {
			r.expireAll(now)
		}
		if r.count >= MaxRegistrations {
			r.makeRoom(r.tasks, group)
		}
		if len(r.tasks[task]) >= MaxOfTask {
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
		renewed.order = r.random.Uint64()
	}
	renewed.record, renewed.group, renewed.expires = record, group, now.Add(RegistrationTTL)
	r.tasks[task][id] = renewed
	return true
}

// others returns up to count records of other nodes on a task, of each group about as many. Which of
// a group is random, and so is the order of the groups. Answers to a registered node continue in
// this order: a party with many groups prevents the introduction of none.
func (r *registry) others(task string, asking peer.ID, count int, now time.Time) [][]byte {
	r.expire(task, now)
	var found []registration
	for _, id := range slices.Sorted(maps.Keys(r.tasks[task])) {
		if other := r.tasks[task][id]; id != asking && other.record != nil {
			found = append(found, other)
		}
	}
	r.random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	own, registered := r.tasks[task][asking]
	if !registered {
		own.order = r.random.Uint64()
	}
	rounds := map[string]int{}
	type ranked struct {
		round  int    // how many of its group come before
		place  uint64 // of the group in the order
		record []byte
	}
	var ranks []ranked
	for _, other := range found {
		ranks = append(ranks, ranked{rounds[other.group], placeOf(own.order, other.group), other.record})
		rounds[other.group]++
	}
	slices.SortFunc(ranks, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.place-own.sentTo-1, b.place-own.sentTo-1)) // round the circle, from the last
	})
	ranks = ranks[:min(count, len(ranks))]
	if registered && len(ranks) > 0 {
		own.sentTo = ranks[len(ranks)-1].place
		r.tasks[task][asking] = own
	}
	var records [][]byte
	for _, other := range ranks {
		records = append(records, other.record)
	}
	return records
}

// placeOf returns the place of a group in the order of a secret.
func placeOf(order uint64, group string) uint64 {
	hash := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, order), group...))
	return binary.LittleEndian.Uint64(hash[:])
}

func (r *registry) together(a, b peer.ID) bool {
	for task := range r.nodes[a] {
		if r.nodes[b][task] {
			return true
		}
	}
	return false
}

// forget ends all registrations of a node.
func (r *registry) forget(id peer.ID) {
	for task := range r.nodes[id] {
		r.remove(task, id)
	}
}

// makeRoom ends the registration that was renewed longest ago in the largest group on some tasks.
// That is the newcomer's own when, with it, no other is larger.
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
			if counts[other.group] != most || own && other.group != newcomer {
				continue
			}
			if from == "" || cmp.Or(other.expires.Compare(earliest), cmp.Compare(task, fromTask), cmp.Compare(id, from)) < 0 {
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

// reservations are those of a hub, by which nodes are reached that others cannot dial. libp2p's
// relay service counts them by address; here the range of addresses with the most loses one to
// another when there are no more.
type reservations struct {
	random *rand.Rand
	most   int
	of     map[peer.ID]string // who has one, or has asked while there was one, and its group
}

func newReservations(random *rand.Rand, most int) reservations {
	return reservations{random: random, most: most, of: map[peer.ID]string{}}
}

// LimitReservations sets how many nodes can be reached through the hub.
func (p *Policy) LimitReservations(most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reservations.most = most
}

// Reserve reports whether a node at an address gets a reservation. A node that loses its own to it is
// to be disconnected; empty: none does.
func (p *Policy) Reserve(now time.Time, id peer.ID, from multiaddr.Multiaddr) (loses peer.ID, ok bool) {
	now = p.lock(now)
	defer p.mu.Unlock()
	if p.banned(now, id) {
		return "", false
	}
	return p.reservations.take(id, WideRangeOf(from).String())
}

// take gives a reservation to a node of a group, if need be that of another, which is returned; false
// when there is none, since no other group would have more than the node's own.
func (p *reservations) take(id peer.ID, group string) (loses peer.ID, ok bool) {
	if _, known := p.of[id]; !known && len(p.of) >= p.most {
		counts := map[string]int{}
		for _, other := range p.of {
			counts[other]++
		}
		largest := slices.Max(slices.Collect(maps.Values(counts)))
		if counts[group]+1 >= largest {
			return "", false
		}
		crowding := map[peer.ID]string{}
		for other, its := range p.of {
			if counts[its] == largest {
				crowding[other] = its
			}
		}
		loses = randomKey(p.random, crowding)
		delete(p.of, loses)
	}
	p.of[id] = group
	return loses, true
}

func (p *reservations) forget(id peer.ID) { delete(p.of, id) }
