package peers

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"
)

// Rates per second, and how much at once.
const (
	RelayRate, RelayBurst                 = 200, 1000 // gossip messages that one peer passes on
	AuthorRate, AuthorBurst               = 10, 100   // shares of one author
	SyncRate, SyncBurst                   = 1, 10     // requests to compare shares
	ExcessStreamRate, ExcessStreamBurst   = 10, 500   // of those above, and streams without a slot; each further one is a violation
	DirectRate, DirectBurst               = 10, 100   // direct messages
	DirectRefusalRate, DirectRefusalBurst = 10, 200   // refusals of them; each further one is a violation
	DirectByteRate, DirectByteBurst       = 1 << 20, 8 << 20

	// AnnounceRate and AnnounceBurst limit the subscriptions that one peer announces; no honest
	// node exceeds them. A node announces all its topics whenever it connects. No gossip message
	// has room for AnnounceBurst of them.
	AnnounceRate, AnnounceBurst = 20, 4096

	// TopicChurnRate and TopicChurnBurst limit how often one peer joins or leaves the node's own
	// topics, since the node reacts to each; no honest node exceeds them.
	TopicChurnRate, TopicChurnBurst = 5, 512
)

// Op is what a peer asks of the node.
type Op int

// The operations with a rate for each peer, and Publish, which has one for each author.
const (
	Relay        Op = iota // pass on a message of gossip
	Sync                   // open a stream
	ExcessStream           // have one refused
	Announce               // a subscription
	TopicChurn             // join or leave an own topic
	Direct                 // send a direct message
	DirectByte
	DirectRefusal // have one refused
	Publish       // a share, connected or not
	ops
)

func (o Op) limiter() *rate.Limiter {
	switch o {
	case Relay:
		return rate.NewLimiter(RelayRate, RelayBurst)
	case Sync:
		return rate.NewLimiter(SyncRate, SyncBurst)
	case ExcessStream:
		return rate.NewLimiter(ExcessStreamRate, ExcessStreamBurst)
	case Announce:
		return rate.NewLimiter(AnnounceRate, AnnounceBurst)
	case TopicChurn:
		return rate.NewLimiter(TopicChurnRate, TopicChurnBurst)
	case Direct:
		return rate.NewLimiter(DirectRate, DirectBurst)
	case DirectByte:
		return rate.NewLimiter(DirectByteRate, DirectByteBurst)
	case DirectRefusal:
		return rate.NewLimiter(DirectRefusalRate, DirectRefusalBurst)
	}
	return rate.NewLimiter(AuthorRate, AuthorBurst)
}

// Allow reports whether a peer may do an operation this number of times more, and counts it.
func (p *Policy) Allow(now time.Time, id peer.ID, op Op, times int) bool {
	now = p.lock(now)
	defer p.mu.Unlock()
	table := &p.peers
	if op == Publish {
		table = &p.authors
	}
	a := table.of(id, now)
	if a.limiters[op] == nil {
		a.limiters[op] = op.limiter()
	}
	return a.limiters[op].AllowN(now, times)
}

// AllowCheck reports whether to check the signature of a gossip message from a peer. Messages that an
// honest peer relays for other authors have a budget apart from its own messages.
func (p *Policy) AllowCheck(now time.Time, id, author peer.ID) bool {
	now = p.lock(now)
	defer p.mu.Unlock()
	return p.allowCheck(now, id, author, p.group(id))
}

func (p *Policy) allowCheck(now time.Time, id, author peer.ID, group string) bool {
	if author == id {
		group = "own words, " + group
	}
	return p.named[id] || p.checks.allow(now, group, 1)
}

// AllowItem reports whether to take an item from the answer of a peer at an address.
func (p *Policy) AllowItem(now time.Time, id peer.ID, from multiaddr.Multiaddr, bytes int) bool {
	now = p.lock(now)
	defer p.mu.Unlock()
	return p.allowItem(now, id, GroupOf(from), bytes)
}

func (p *Policy) allowItem(now time.Time, id peer.ID, group string, bytes int) bool {
	return p.named[id] || p.items.allow(now, group, 1+bytes/itemBytes)
}

// Work that peers can give a node without a reason that the node could see beforehand, in signatures
// to check: so much per second for all peers together and, when that is used up, a little for each
// group, so that a group that asks for little is served whatever others do.
const (
	CheckRate, CheckBurst           = 200, 1000 // messages of gossip
	GroupCheckRate, GroupCheckBurst = 5, 50     // of the peers' own messages, and as many of those that they relay

	// Items of answers to requests for shares. The burst is as many shares as an agent may hold
	// of others.
	ItemRate, ItemBurst           = 50, 3072
	GroupItemRate, GroupItemBurst = 5, 128
	itemBytes                     = 4 << 10 // of which a larger item counts as several
)

// budget is shared by groups.
type budget struct {
	all  *rate.Limiter
	each Groups
}

func newCheckBudget() budget {
	return budget{rate.NewLimiter(CheckRate, CheckBurst), NewGroups(GroupCheckRate, GroupCheckBurst)}
}

func newItemBudget() budget {
	return budget{rate.NewLimiter(ItemRate, ItemBurst), NewGroups(GroupItemRate, GroupItemBurst)}
}

// allow reports whether something of that cost is still done for a group, and counts it.
func (b *budget) allow(now time.Time, group string, cost int) bool {
	return b.each.Of(group).AllowN(now, cost) || b.all.AllowN(now, cost)
}

// Groups holds a limiter for each of a bounded number of groups.
type Groups struct {
	rate   rate.Limit
	burst  int
	groups table[string, *rate.Limiter]
}

// NewGroups returns limiters of a rate.
func NewGroups(perSecond rate.Limit, burst int) Groups {
	return Groups{perSecond, burst, newTable[string, *rate.Limiter](MaxRanges)}
}

// Of returns the limiter of a group. When there are too many, that of the group which has used its
// own longest ago is removed.
func (g Groups) Of(group string) *rate.Limiter {
	limiter, ok := g.groups.get(group)
	if !ok {
		limiter = rate.NewLimiter(g.rate, g.burst)
		g.groups.put(group, limiter)
	}
	g.groups.touch(group)
	return limiter
}
