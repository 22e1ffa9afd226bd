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

// Limits of a hub's registry.
const (
	MaxRegistrations = 4096 // all registrations; a node on two tasks counts twice
	MaxOfTask        = MaxMembers
	MaxTasksOfNode   = 16
	RegistrationTTL  = 10 * time.Minute // time after a node's last request
)

// registry holds a hub's registrations: which nodes work on which task, and their signed records. A
// registration ends with the node's connection, so connected nodes bound their number. If there is
// no room, the group with the most registrations loses the one renewed longest ago. Groups count
// rather than nodes, since identities cost nothing.
type registry struct {
	random *rand.Rand
	tasks  map[string]map[peer.ID]registration
	nodes  map[peer.ID]map[string]bool // tasks of each node
	count  int
}

type registration struct {
	record  []byte // the node's peer record; nil: the node is not introduced to others
	group   string
	expires time.Time
	order   uint64 // secret that defines the order in which groups are introduced to the node
	sentTo  uint64 // position in that order at which the last response ended
}

func newRegistry(random *rand.Rand) registry {
	return registry{random: random, tasks: map[string]map[peer.ID]registration{}, nodes: map[peer.ID]map[string]bool{}}
}

// Registration is the result of Policy.Register.
type Registration struct {
	Refused bool // the node works on too many tasks and is not registered
	Hidden  bool // the node is registered but not introduced to others, since its record does not have the address at which the hub sees it
}

// Register registers a node for a task, or renews the registration. The record must be valid, and
// from is the address of the node's connection.
func (p *Policy) Register(now time.Time, task string, id peer.ID, from multiaddr.Multiaddr, record []byte) Registration {
	hidden := !p.isAt(record, from)
	if hidden {
		record = nil
	}
	now = p.lock(now)
	defer p.mu.Unlock()
	return Registration{Refused: !p.registry.register(task, id, p.group(id), record, now), Hidden: hidden}
}

// Introduce returns up to count records of other nodes on a task, for the node asking.
func (p *Policy) Introduce(now time.Time, task string, asking peer.ID, count int) [][]byte {
	now = p.lock(now)
	defer p.mu.Unlock()
	return p.registry.others(task, asking, count, now)
}

// Together reports whether two nodes are registered for a common task.
func (p *Policy) Together(a, b peer.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.registry.together(a, b)
}

// Registrations returns the number of registrations.
func (p *Policy) Registrations() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.registry.count
}

// isAt reports whether a record has a plausible address: the IP address at which the hub sees the
// node, a relayed address through the hub, or, if the hub sees a private address, any private
// address. Without this check, nodes would dial a third party's address.
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

// register registers a node for a task or renews the registration. It returns false if the node has
// too many tasks.
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

// others returns up to count records of other nodes on a task, about equally many of each group.
// The nodes of a group come in random order. The groups come in an order that depends on a secret
// of the asking node's registration, and each response continues where the last one ended. So a
// party with many groups cannot prevent the introduction of others.
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
		round  int    // number of nodes of the same group before this one
		place  uint64 // position of the group in the order
		record []byte
	}
	var ranks []ranked
	for _, other := range found {
		ranks = append(ranks, ranked{rounds[other.group], placeOf(own.order, other.group), other.record})
		rounds[other.group]++
	}
	slices.SortFunc(ranks, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.place-own.sentTo-1, b.place-own.sentTo-1)) // cyclic order, beginning after the last response's end
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

// placeOf returns the position of a group in the order that a secret defines: a hash of both.
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

// makeRoom removes, from the given tasks, the registration renewed longest ago in the largest
// group. The newcomer counts with its group; if that group is then among the largest, it is the one
// that loses a registration.
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

// reservations counts a hub's relay reservations, through which peers reach nodes that they cannot
// dial. libp2p's relay service limits them by address. If all are taken, a node from the range of
// addresses with the most reservations loses its own to a node from a smaller one.
type reservations struct {
	random *rand.Rand
	most   int
	of     map[peer.ID]string // group of each node that has a reservation, or was granted one and did not complete it
}

func newReservations(random *rand.Rand, most int) reservations {
	return reservations{random: random, most: most, of: map[peer.ID]string{}}
}

// LimitReservations sets the maximum number of reservations.
func (p *Policy) LimitReservations(most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reservations.most = most
}

// Reserve reports whether a node at an address gets a reservation. If another node loses its
// reservation for it, loses is that node, which the caller must disconnect; otherwise loses is
// empty.
func (p *Policy) Reserve(now time.Time, id peer.ID, from multiaddr.Multiaddr) (loses peer.ID, ok bool) {
	now = p.lock(now)
	defer p.mu.Unlock()
	if p.banned(now, id) {
		return "", false
	}
	return p.reservations.take(id, WideRangeOf(from).String())
}

// take gives a reservation to a node of a group. If all are taken, a random node of the largest
// group loses its own and is returned. It returns false if the newcomer's group would become as
// large as that group.
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
