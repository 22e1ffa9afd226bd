package node

import (
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"
)

// What is tolerated from one peer.
const (
	maxViolations     = 3                // things that no honest node does, within violationLifetime
	violationLifetime = 10 * time.Minute // since the last of them
	banTime           = 10 * time.Minute

	relayRate, relayBurst                 = 200, 1000 // gossip messages a second that one peer passes on
	authorRate, authorBurst               = 10, 100   // shares a second of one author
	syncRate, syncBurst                   = 1, 10     // requests a second to compare shares
	excessStreamRate, excessStreamBurst   = 10, 500   // of those above, and streams for which there is no place; more is a fault each time
	directRate, directBurst               = 10, 100   // direct messages a second
	directRefusalRate, directRefusalBurst = 10, 200   // refusals of them a second; what is above is a fault

	// announceRate and announceBurst limit the subscriptions per second that one peer announces;
	// no honest node exceeds them. A node announces all its topics whenever it connects. No
	// gossip message has room for announceBurst of them.
	announceRate, announceBurst = 20, 4096

	// topicChurnRate and topicChurnBurst limit how often per second one peer joins or leaves the
	// node's own topics, since the node reacts to each; no honest node exceeds them.
	topicChurnRate, topicChurnBurst = 5, 512

	directByteRate, directByteBurst = 1 << 20, 8 << 20 // bytes of them a second

	maxPeerRecords = 4096 // peers that are remembered, and as many authors
	maxBans        = 4096 // at a time, of peers, and as many of authors
	maxRanges      = 4096 // of addresses from which a peer was banned

	maxBannedInRange = 3 // at a time, with which the range is banned
)

// peerPolicy records violations and limits rates. A malformed message is a violation by the peer
// that relayed it, since an honest peer checks messages first; two different shares with one stamp
// are a violation by their author. A peer with three violations is disconnected and banned for ten
// minutes. Messages beyond a rate limit are dropped for a while. The node fetches lost shares
// later; senders repeat lost direct messages.
//
// Three banned peers from one range of addresses ban the range for ten minutes, since new
// identities cost nothing. Peers that the node's user has named are exempt, and so are active
// peers, which may share an address with an attacker by chance.
type peerPolicy struct {
	now    func() time.Time
	exempt func(peer.ID) bool // from bans of ranges

	mu      sync.Mutex
	peers   peerTable // that are connected, or were
	authors peerTable // of shares, who may be made up; apart, so that names crowd out no peer
	ranges  map[netip.Prefix]*rangeRecord
	checks  budget // signatures of gossip
	items   budget // items of answers
}

// peerTable holds a bounded number of records, and drops the least recently used.
type peerTable struct {
	records map[peer.ID]*peerRecord
	bans    map[peer.ID]time.Time // their ends; apart, as neither may crowd the other out
}

type peerRecord struct {
	faults    int
	last      time.Time // fault, or use
	delivered time.Time // when it last brought something new

	relayed, written                *rate.Limiter
	synced, excessStreams           *rate.Limiter
	announced, topicChurn           *rate.Limiter
	sent, sentBytes, directRefusals *rate.Limiter // direct messages
}

// rangeRecord holds the bans of peers from one range of addresses.
type rangeRecord struct {
	banned map[peer.ID]time.Time // the ends of the bans
	last   time.Time
	end    time.Time // of the ban of the range
}

func newPeerPolicy(exempt func(peer.ID) bool) *peerPolicy {
	return &peerPolicy{
		now: time.Now, exempt: exempt, peers: newPeerTable(), authors: newPeerTable(), ranges: map[netip.Prefix]*rangeRecord{},
		checks: newCheckBudget(), items: newItemBudget(),
	}
}

func newPeerTable() peerTable {
	return peerTable{records: map[peer.ID]*peerRecord{}, bans: map[peer.ID]time.Time{}}
}

// of returns an account, forgetting another when there are too many. The caller holds the lock.
func (b *peerTable) of(id peer.ID, now time.Time) *peerRecord {
	a := b.records[id]
	if a == nil {
		if len(b.records) >= maxPeerRecords {
			deleteOldest(b.records, func(a *peerRecord) time.Time { return a.last })
		}
		a = &peerRecord{
			relayed: rate.NewLimiter(relayRate, relayBurst),
			written: rate.NewLimiter(authorRate, authorBurst),

			synced:        rate.NewLimiter(syncRate, syncBurst),
			excessStreams: rate.NewLimiter(excessStreamRate, excessStreamBurst),

			announced:  rate.NewLimiter(announceRate, announceBurst),
			topicChurn: rate.NewLimiter(topicChurnRate, topicChurnBurst),

			sent:           rate.NewLimiter(directRate, directBurst),
			sentBytes:      rate.NewLimiter(directByteRate, directByteBurst),
			directRefusals: rate.NewLimiter(directRefusalRate, directRefusalBurst),
		}
		b.records[id] = a
	}
	if a.faults == 0 {
		a.last = now
	}
	return a
}

// violation notes something that no honest node does; true when that was one too many.
func (b *peerTable) violation(id peer.ID, weight int, now time.Time) (banned bool) {
	a := b.of(id, now)
	if now.Sub(a.last) > violationLifetime {
		a.faults = 0
	}
	a.faults += weight
	a.last = now
	if a.faults < maxViolations {
		return false
	}
	// When too many are banned, the ban ends that began first.
	if _, again := b.bans[id]; !again && len(b.bans) >= maxBans {
		deleteOldest(b.bans, func(end time.Time) time.Time { return end })
	}
	b.bans[id] = now.Add(banTime)
	return true
}

// deleteOldest removes the entry with the earliest time from a map that is not empty.
func deleteOldest[K comparable, T any](entries map[K]T, timeOf func(T) time.Time) {
	var oldest K
	var earliest time.Time
	first := true
	for key, entry := range entries {
		if at := timeOf(entry); first || at.Before(earliest) {
			oldest, earliest, first = key, at, false
		}
	}
	delete(entries, oldest)
}

// Whether a peer may do one more of something.
func (c *peerPolicy) allowRelay(id peer.ID) bool {
	return c.allow(id, func(a *peerRecord) *rate.Limiter { return a.relayed })
}
func (c *peerPolicy) allowSync(id peer.ID) bool {
	return c.allow(id, func(a *peerRecord) *rate.Limiter { return a.synced })
}
func (c *peerPolicy) allowExcessStream(id peer.ID) bool {
	return c.allow(id, func(a *peerRecord) *rate.Limiter { return a.excessStreams })
}
func (c *peerPolicy) allowAnnouncement(id peer.ID, subscriptions int) bool {
	return c.allowN(id, subscriptions, func(a *peerRecord) *rate.Limiter { return a.announced })
}
func (c *peerPolicy) allowTopicChurn(id peer.ID, times int) bool {
	return c.allowN(id, times, func(a *peerRecord) *rate.Limiter { return a.topicChurn })
}
func (c *peerPolicy) allowDirect(id peer.ID) bool {
	return c.allow(id, func(a *peerRecord) *rate.Limiter { return a.sent })
}
func (c *peerPolicy) allowDirectBytes(id peer.ID, bytes int) bool {
	return c.allowN(id, bytes, func(a *peerRecord) *rate.Limiter { return a.sentBytes })
}
func (c *peerPolicy) allowDirectRefusal(id peer.ID) bool {
	return c.allow(id, func(a *peerRecord) *rate.Limiter { return a.directRefusals })
}

// allowAuthor is of an author, connected or not.
func (c *peerPolicy) allowAuthor(id peer.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	return c.authors.of(id, now).written.AllowN(now, 1)
}

// allowSignatureCheck reports whether to check the signature of a message from a peer of a group.
// Messages that an honest peer relays for other authors have a budget apart from its own messages.
func (c *peerPolicy) allowSignatureCheck(id peer.ID, group string, author peer.ID) bool {
	if author == id {
		group = "own words, " + group
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exempt(id) || c.checks.allow(c.now(), group, 1)
}

// allowItem tells whether an item is taken from the answer of a peer of a group.
func (c *peerPolicy) allowItem(id peer.ID, group string, bytes int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exempt(id) || c.items.allow(c.now(), group, 1+bytes/itemBytes)
}

func (c *peerPolicy) allow(id peer.ID, which func(*peerRecord) *rate.Limiter) bool {
	return c.allowN(id, 1, which)
}

func (c *peerPolicy) allowN(id peer.ID, count int, which func(*peerRecord) *rate.Limiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	return which(c.peers.of(id, now)).AllowN(now, count)
}

// violation notes what a peer did that no honest node does, when it is connected from these
// ranges; true when that was one too many, and which ranges are banned with it.
func (c *peerPolicy) violation(id peer.ID, weight int, from ...netip.Prefix) (banned bool, ranges []netip.Prefix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if !c.peers.violation(id, weight, now) {
		return false, nil
	}
	for _, r := range from {
		if r.IsValid() && !r.Addr().IsLoopback() && !c.exempt(id) && c.noteBanInRange(r, id, now) {
			ranges = append(ranges, r)
		}
	}
	return true, ranges
}

// noteBanInRange records the ban of a peer from a range; true if the range is now banned.
func (c *peerPolicy) noteBanInRange(from netip.Prefix, id peer.ID, now time.Time) bool {
	r := c.ranges[from]
	if r == nil {
		if len(c.ranges) >= maxRanges {
			deleteOldest(c.ranges, func(r *rangeRecord) time.Time { return r.last })
		}
		r = &rangeRecord{banned: map[peer.ID]time.Time{}}
		c.ranges[from] = r
	}
	r.last = now
	for other, end := range r.banned {
		if !now.Before(end) {
			delete(r.banned, other)
		}
	}
	if r.banned[id] = now.Add(banTime); len(r.banned) > maxBannedInRange {
		deleteOldest(r.banned, func(end time.Time) time.Time { return end })
	}
	if len(r.banned) < maxBannedInRange {
		return false
	}
	r.end = now.Add(banTime)
	return true
}

// authorViolation is fault of one that is not connected and may be made up.
func (c *peerPolicy) authorViolation(id peer.ID, weight int) (banned bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.authors.violation(id, weight, c.now())
}

func (c *peerPolicy) isBanned(id peer.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	return now.Before(c.peers.bans[id]) || now.Before(c.authors.bans[id])
}

// noteDelivery notes that a peer that is connected has brought something new.
func (c *peerPolicy) noteDelivery(id peer.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.peers.of(id, now).delivered = now
}

// isBlocked reports whether connections with a peer at an address are refused: the peer or its
// range is banned. A range's ban exempts active peers without violations, which no new peer can
// be.
func (c *peerPolicy) isBlocked(id peer.ID, address multiaddr.Multiaddr) bool {
	if c.isBanned(id) {
		return true
	}
	from := rangeOf(address)
	c.mu.Lock()
	now, r, a := c.now(), c.ranges[from], c.peers.records[id]
	shut := r != nil && now.Before(r.end) && !(a != nil && a.faults == 0 && now.Sub(a.delivered) < activeTime)
	c.mu.Unlock()
	return shut && !c.exempt(id)
}

// reportViolation notes a fault of a peer and breaks with it when there were too many, and with
// its range. It does not wait for the connections to be closed.
func (c *peerPolicy) reportViolation(n network.Network, id peer.ID, weight int) (banned bool, ranges []netip.Prefix) {
	connections := n.ConnsToPeer(id)
	if len(connections) == 0 {
		if banned = c.authorViolation(id, weight); banned {
			go n.ClosePeer(id) // it may have connected before the ban
		}
		return banned, nil
	}
	var from []netip.Prefix
	for _, connection := range connections {
		if r := rangeOf(connection.RemoteMultiaddr()); !slices.Contains(from, r) {
			from = append(from, r)
		}
	}
	banned, ranges = c.violation(id, weight, from...)
	if banned {
		go n.ClosePeer(id)
	}
	if len(ranges) > 0 {
		for _, connection := range n.Conns() {
			if c.isBlocked(connection.RemotePeer(), connection.RemoteMultiaddr()) {
				go connection.Close()
			}
		}
	}
	return banned, ranges
}

// closeBlocked closes connections of banned peers as soon as they are established, until stop is
// called.
func (c *peerPolicy) closeBlocked(n network.Network) (stop func()) {
	bundle := &network.NotifyBundle{ConnectedF: func(_ network.Network, connection network.Conn) {
		if c.isBlocked(connection.RemotePeer(), connection.RemoteMultiaddr()) {
			go connection.Close() // closing from within the notification would wait for itself
		}
	}}
	n.Notify(bundle)
	return func() { n.StopNotify(bundle) }
}

// reportViolation notes a fault of a peer and breaks with it when there were too many.
func (n *Node) reportViolation(id peer.ID, weight int, why error) {
	if id == n.host.ID() {
		return
	}
	n.log.Info("a peer misbehaves", "peer", id, "error", why)
	banned, ranges := n.policy.reportViolation(n.host.Network(), id, weight)
	logBan(n.log, id, banned, ranges, why)
}

func logBan(log *slog.Logger, id peer.ID, banned bool, ranges []netip.Prefix, why error) {
	if banned {
		log.Warn("peer disconnected for misbehaviour", "peer", id, "for", banTime, "last", why)
	}
	for _, r := range ranges {
		log.Warn("addresses banned, after several peers from there", "peer", id, "range", r, "for", banTime)
	}
}

// rejectionTracer tells of gossip that pubsub itself finds malformed.
type rejectionTracer struct {
	noTracer
	node *Node
}

func (r rejectionTracer) RejectMessage(m *pubsub.Message, reason string) {
	switch reason {
	case pubsub.RejectMissingSignature, pubsub.RejectInvalidSignature, pubsub.RejectUnexpectedAuthInfo:
		r.node.reportViolation(m.ReceivedFrom, 1, errors.New(reason))
	}
}
