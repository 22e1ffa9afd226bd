package peers

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// Config has the fixed settings of a Policy.
type Config struct {
	Self   peer.ID
	Listed []peer.ID       // allow list; nil: all peers may take part
	Hubs   []peer.ID       // may connect even if they are not in Listed
	Named  []peer.AddrInfo // peers and hubs that the user has configured; dials to them are not limited
	Random rand.Source
}

// Policy decides on the peers of a node or hub.
type Policy struct {
	self   peer.ID
	listed map[peer.ID]bool
	hubs   hubs

	mu          sync.Mutex
	latest      time.Time // latest time reported to the policy
	random      *rand.Rand
	named       map[peer.ID]int          // number of reasons for which the user has named a peer
	connections map[peer.ID][]connection // open connections of a peer, oldest first
	attempts    *attempts

	peers   peerTable // records of peers that are or were connected
	authors peerTable // records of authors of shares; in a separate table, since authors can be fabricated and would displace peers
	ranges  table[netip.Prefix, *rangeRecord]
	checks  budget // budget for checking the signatures of gossip messages
	items   budget // budget for items of sync responses

	topics       topics
	registry     registry     // used on a hub
	reservations reservations // used on a hub
}

// connection is an open connection.
type connection struct {
	key      string
	address  multiaddr.Multiaddr
	outbound bool
	direct   bool
	group    string
}

// New returns a policy.
func New(c Config) *Policy {
	random := rand.New(c.Random)
	p := &Policy{
		self: c.Self, random: random,
		named: map[peer.ID]int{}, connections: map[peer.ID][]connection{}, attempts: newAttempts(random),
		peers: newPeerTable(), authors: newPeerTable(), ranges: newTable[netip.Prefix, *rangeRecord](MaxRanges),
		checks: newCheckBudget(), items: newItemBudget(),
		topics: newTopics(), registry: newRegistry(random), reservations: newReservations(random, 0),
	}
	p.Name(c.Listed...)
	for _, info := range c.Named {
		p.Configure(info)
	}
	for _, id := range c.Hubs {
		p.hubs.add(id)
	}
	if c.Listed != nil {
		p.listed = setOf(c.Listed)
		p.listed[c.Self] = true
	}
	return p
}

func setOf(ids []peer.ID) map[peer.ID]bool {
	set := make(map[peer.ID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// lock locks the policy and returns the time, or the latest time reported before if that is later.
// Goroutines may read the clock in one order and arrive here in another. If the time went back, a
// rate limiter would grant the same interval twice.
func (p *Policy) lock(now time.Time) time.Time {
	p.mu.Lock()
	if now.After(p.latest) {
		p.latest = now
	}
	return p.latest
}

// MayTakePart reports whether a peer may take part in this node's tasks: there is no allow list, or
// it lists the peer.
func (p *Policy) MayTakePart(id peer.ID) bool { return p.listed == nil || p.listed[id] }

// MayConnect reports whether a node or hub may be connected with this one.
func (p *Policy) MayConnect(id peer.ID) bool { return p.MayTakePart(id) || p.hubs.has(id) }

// Listed reports whether the allow list has a peer.
func (p *Policy) Listed(id peer.ID) bool { return p.listed[id] }

// Name adds peers that the user has named in another way, such as those of a task's roster. Named
// peers have precedence over others.
func (p *Policy) Name(ids ...peer.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		p.named[id]++
	}
}

// Configure adds a peer or hub whose addresses the user has configured. Dials to it are not limited.
func (p *Policy) Configure(info peer.AddrInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.named[info.ID]++
	p.attempts.name(info)
}

// Unconfigure undoes one call of Configure with the same argument.
func (p *Policy) Unconfigure(info peer.AddrInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	decrement(p.named, info.ID)
	p.attempts.unname(info)
}

// AddHub adds a hub of the node. It may connect even if the allow list does not have it.
func (p *Policy) AddHub(id peer.ID) { p.hubs.add(id) }

// RemoveHub undoes AddHub.
func (p *Policy) RemoveHub(id peer.ID) { p.hubs.remove(id) }

// hubs is the set of the node's hubs. The zero value is empty.
type hubs struct{ ids sync.Map }

func (h *hubs) add(id peer.ID)    { h.ids.Store(id, true) }
func (h *hubs) remove(id peer.ID) { h.ids.Delete(id) }

func (h *hubs) has(id peer.ID) bool {
	_, has := h.ids.Load(id)
	return has
}

// decrement subtracts one from a count, and deletes the entry at zero.
func decrement[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] <= 0 {
		delete(counts, key)
	}
}

// Named reports whether the user has named a peer: by Node.Peers or Node.Hubs, on the allow list,
// or in the roster of a task.
func (p *Policy) Named(id peer.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.named[id] > 0
}

// Connected records a new connection. Its key must be unique among open connections. A second call
// with the same key has no effect.
func (p *Policy) Connected(now time.Time, id peer.ID, key string, address multiaddr.Multiaddr, outbound bool) {
	now = p.lock(now)
	defer p.mu.Unlock()
	if slices.ContainsFunc(p.connections[id], func(c connection) bool { return c.key == key }) {
		return
	}
	direct, group := groupOf(address)
	p.connections[id] = append(p.connections[id], connection{key, address, outbound, direct, group})
	if at := p.answeredAt(address, outbound); at != nil {
		p.attempts.answered(now, id, at)
	}
}

// Disconnected records the end of a connection.
func (p *Policy) Disconnected(id peer.ID, key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := slices.DeleteFunc(p.connections[id], func(c connection) bool { return c.key == key })
	if p.connections[id] = left; len(left) == 0 {
		delete(p.connections, id)
		p.topics.forget(id)
		p.registry.forget(id)
		p.reservations.forget(id)
	}
}

// Group returns the group with which a peer counts toward limits: the range of its address, or the
// hub through which it is connected. All peers without a connection form one group, so that
// disconnecting early gains nothing.
func (p *Policy) Group(id peer.ID) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.group(id)
}

func (p *Policy) group(id peer.ID) string {
	group := "gone"
	for _, c := range p.connections[id] {
		if c.direct {
			return c.group
		}
		group = c.group
	}
	return group
}

// addressOf returns the address of a peer's oldest connection; nil if it is not connected.
func (p *Policy) addressOf(id peer.ID) multiaddr.Multiaddr {
	p.mu.Lock()
	defer p.mu.Unlock()
	if open := p.connections[id]; len(open) > 0 {
		return open[0].address
	}
	return nil
}

// delivered records that a connected peer has delivered a share that was new to this node.
func (p *Policy) delivered(now time.Time, id peer.ID) { p.peers.of(id, now).delivered = now }
