package peers

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"
)

// Rates per second, and bursts, for one peer or author.
const (
	RelayRate, RelayBurst                 = 200, 1000 // gossip messages that a peer relays
	AuthorRate, AuthorBurst               = 10, 100   // shares of an author, for each task of the node
	SyncRate, SyncBurst                   = 1, 10     // requests to compare shares, for each task of the node
	ExcessStreamRate, ExcessStreamBurst   = 10, 500   // requests above SyncRate and streams without a slot; each one beyond this rate is a violation
	DirectRate, DirectBurst               = 10, 100   // direct messages
	DirectRefusalRate, DirectRefusalBurst = 10, 200   // refused direct messages; each one beyond this rate is a violation
	DirectByteRate, DirectByteBurst       = 1 << 20, 8 << 20

	// AnnounceRate and AnnounceBurst limit the subscriptions that a peer announces. A node
	// announces all its topics whenever it connects. No honest node exceeds them, and AnnounceBurst
	// is more than fits into one gossip message.
	AnnounceRate, AnnounceBurst = 20, 4096

	// TopicChurnRate and TopicChurnBurst limit how often a peer joins or leaves the node's own
	// topics, since the node reacts to each change. No honest node exceeds them. With many tasks the
	// burst is TaskChurnBurst for each of them, because a peer joins all topics whenever it connects.
	TopicChurnRate, TopicChurnBurst = 5, 512
	TaskChurnBurst                  = 4
)

// Op is an operation of a peer that Policy.Allow limits.
type Op int

// The limited operations. Publish is limited for each author, all others for each peer.
const (
	Relay        Op = iota // relay a gossip message
	Sync                   // open a stream
	ExcessStream           // open a stream that is refused
	Announce               // announce a subscription
	TopicChurn             // join or leave one of the node's own topics
	Direct                 // send a direct message
	DirectByte
	DirectRefusal // send a direct message that is refused
	Publish       // publish a share; its author need not be connected
	ops
)

// limits returns the rate and the burst of an operation for a node with the given number of tasks.
// Peers with many common tasks need more requests and publish more shares.
func (o Op) limits(tasks int) (rate.Limit, int) {
	tasks = max(tasks, 1)
	switch o {
	case Relay:
		return RelayRate, RelayBurst
	case Sync:
		return rate.Limit(SyncRate * tasks), SyncBurst * tasks
	case ExcessStream:
		return ExcessStreamRate, ExcessStreamBurst
	case Announce:
		return AnnounceRate, AnnounceBurst
	case TopicChurn:
		return TopicChurnRate, max(TopicChurnBurst, TaskChurnBurst*tasks)
	case Direct:
		return DirectRate, DirectBurst
	case DirectByte:
		return DirectByteRate, DirectByteBurst
	case DirectRefusal:
		return DirectRefusalRate, DirectRefusalBurst
	}
	return rate.Limit(AuthorRate * tasks), AuthorBurst * tasks
}

// Allow reports whether a peer may do an operation the given number of times, and counts these.
func (p *Policy) Allow(now time.Time, id peer.ID, op Op, times int) bool {
	now = p.lock(now)
	defer p.mu.Unlock()
	table := &p.peers
	if op == Publish {
		table = &p.authors
	}
	a := table.of(id, now)
	limit, burst := op.limits(len(p.topics.own))
	if l := a.limiters[op]; l == nil || l.Burst() < burst { // the node has joined more tasks
		a.limiters[op] = grown(l, limit, burst, now)
	}
	return a.limiters[op].AllowN(now, times)
}

// grown returns a limiter with a larger burst, from which as much is used as from old. old may be nil.
func grown(old *rate.Limiter, limit rate.Limit, burst int, now time.Time) *rate.Limiter {
	l := rate.NewLimiter(limit, burst)
	if old != nil {
		l.AllowN(now, int(float64(old.Burst())-old.TokensAt(now)))
	}
	return l
}

// AllowCheck reports whether to check the signature of a gossip message from a peer. The messages
// that a peer relays for other authors have a budget separate from that for its own messages.
func (p *Policy) AllowCheck(now time.Time, id, author peer.ID) bool {
	now = p.lock(now)
	defer p.mu.Unlock()
	return p.allowCheck(now, id, author, p.group(id))
}

func (p *Policy) allowCheck(now time.Time, id, author peer.ID, group string) bool {
	if author == id {
		group = "own words, " + group
	}
	return p.named[id] > 0 || p.checks.allow(now, group, 1)
}

// AllowItem reports whether to accept an item of the given size from a peer's sync response. The
// argument from is the peer's address.
func (p *Policy) AllowItem(now time.Time, id peer.ID, from multiaddr.Multiaddr, bytes int) bool {
	now = p.lock(now)
	defer p.mu.Unlock()
	return p.allowItem(now, id, GroupOf(from), bytes)
}

func (p *Policy) allowItem(now time.Time, id peer.ID, group string, bytes int) bool {
	return p.named[id] > 0 || p.items.allow(now, group, 1+bytes/itemBytes)
}

// Budgets for work that peers can cause before the node knows whether it is useful, counted in
// signatures to check. Each group of peers has a small budget of its own. A group that has used it
// takes from a budget that all groups share. So a group with few messages is served whatever the
// others send.
const (
	CheckRate, CheckBurst           = 200, 1000 // gossip messages
	GroupCheckRate, GroupCheckBurst = 5, 50     // messages of a group's own peers, and separately the same number of messages that they relay

	// Items of sync responses. The burst is the maximum number of peers' shares that an agent
	// stores.
	ItemRate, ItemBurst           = 50, 3072
	GroupItemRate, GroupItemBurst = 5, 128
	itemBytes                     = 4 << 10 // size of an item that counts as one; larger items count as several
)

// budget has a limiter for each group and one shared by all groups.
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

// allow reports whether work of the given cost may be done for a group, and counts it.
func (b *budget) allow(now time.Time, group string, cost int) bool {
	return b.each.Of(group).AllowN(now, cost) || b.all.AllowN(now, cost)
}

// Groups holds a rate limiter for each group, for a bounded number of groups.
type Groups struct {
	rate   rate.Limit
	burst  int
	groups table[string, *rate.Limiter]
}

// NewGroups returns Groups whose limiters have the given rate per second and burst.
func NewGroups(perSecond rate.Limit, burst int) Groups {
	return Groups{perSecond, burst, newTable[string, *rate.Limiter](MaxRanges)}
}

// Of returns the limiter of a group. If there are too many groups, it first removes the limiter
// that was used longest ago.
func (g Groups) Of(group string) *rate.Limiter {
	limiter, ok := g.groups.get(group)
	if !ok {
		limiter = rate.NewLimiter(g.rate, g.burst)
		g.groups.put(group, limiter)
	}
	g.groups.touch(group)
	return limiter
}
