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

// Config is what a policy has from the start.
type Config struct {
	Self   peer.ID
	Listed []peer.ID       // the allow list; nil: all peers may take part
	Hubs   []peer.ID       // may connect, listed or not
	Named  []peer.AddrInfo // peers and hubs that the user has named; dialled without limit
	Random rand.Source
}

// Policy decides on the peers of a node or hub.
type Policy struct {
	self   peer.ID
	listed map[peer.ID]bool
	hubs   map[peer.ID]bool

	mu          sync.Mutex
	latest      time.Time // that was reported
	random      *rand.Rand
	named       map[peer.ID]bool
	connections map[peer.ID][]connection // oldest first
	attempts    *attempts

	peers   peerTable // that are connected, or were
	authors peerTable // of shares, which may be fabricated; apart, so that names crowd out no peer
	ranges  table[netip.Prefix, *rangeRecord]
	checks  budget // signatures of gossip
	items   budget // items of answers

	topics       topics
	registry     registry     // of a hub
	reservations reservations // at a hub
}

// connection is one that is open.
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
		self: c.Self, hubs: setOf(c.Hubs), random: random,
		named: setOf(c.Listed), connections: map[peer.ID][]connection{}, attempts: newAttempts(random, c.Named),
		peers: newPeerTable(), authors: newPeerTable(), ranges: newTable[netip.Prefix, *rangeRecord](MaxRanges),
		checks: newCheckBudget(), items: newItemBudget(),
		topics: newTopics(), registry: newRegistry(random), reservations: newReservations(random, 0),
	}
	for _, info := range c.Named {
		p.named[info.ID] = true
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

// lock locks the policy, and returns the time, which does not go back: goroutines that read the clock
// one after another may come here in another order, and a rate would be earned twice.
func (p *Policy) lock(now time.Time) time.Time {
	p.mu.Lock()
	if now.After(p.latest) {
		p.latest = now
	}
	return p.latest
}

// MayTakePart reports whether a node may have a part in this node's tasks.
func (p *Policy) MayTakePart(id peer.ID) bool { return p.listed == nil || p.listed[id] }

// MayConnect reports whether there may be a connection with a node or hub.
func (p *Policy) MayConnect(id peer.ID) bool { return p.MayTakePart(id) || p.hubs[id] }

// Listed reports whether an allow list names a peer.
func (p *Policy) Listed(id peer.ID) bool { return p.listed[id] }

// Name adds peers that the user has named, such as those of a task's roster: they go before others.
func (p *Policy) Name(ids ...peer.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		p.named[id] = true
	}
}

// Named reports whether the user has named a peer: as a peer or hub, on the allow list or in the
// roster of a task.
func (p *Policy) Named(id peer.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.named[id]
}

// Connected records a connection. Its key is that of no other open connection; a second call with
// it has no effect.
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

// Group returns the group that a peer counts with where places are short: the range of its address,
// or the hub that it is reached through. All peers without a connection are one group, so that a
// peer gains nothing by disconnecting at once.
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

// addressOf returns the address of the first connection with a peer; nil when there is none.
func (p *Policy) addressOf(id peer.ID) multiaddr.Multiaddr {
	p.mu.Lock()
	defer p.mu.Unlock()
	if open := p.connections[id]; len(open) > 0 {
		return open[0].address
	}
	return nil
}

// delivered records that a connected peer has delivered a new share.
func (p *Policy) delivered(now time.Time, id peer.ID) { p.peers.of(id, now).delivered = now }
