package node

import (
	"errors"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/time/rate"
)

// What is tolerated from one peer.
const (
	mostFaults    = 3                // things that no honest node does, within forgivenAfter
	forgivenAfter = 10 * time.Minute // since the last of them
	banTime       = 10 * time.Minute

	relayRate, relayBurst   = 200, 1000 // gossip messages a second that one peer passes on
	authorRate, authorBurst = 10, 100   // shares a second of one author
	syncRate, syncBurst     = 1, 10     // requests a second to compare shares
	directRate, directBurst = 10, 100   // direct messages a second
	knockRate, knockBurst   = 10, 200   // refusals of them a second; what is above is a fault

	// Subscriptions a second that one peer announces; more is what nobody honest
	// does. A node announces all its topics whenever it connects, and no message
	// of gossip has room for as many as may come at once.
	announceRate, announceBurst = 20, 4096

	directByteRate, directByteBurst = 1 << 20, 8 << 20 // bytes of them a second

	mostAccounts = 4096 // peers that are remembered
	mostBans     = 4096 // at a time
)

// conduct keeps account of what other peers do. Malformed messages are faults
// of the peer that passed them on, since an honest one checks them first; two
// different shares with one stamp are a fault of their author. A peer with three
// faults is disconnected and not heard for ten minutes. Whoever talks too much
// is not heard for a while; what was lost is fetched later, or sent again when it
// is a direct message.
type conduct struct {
	now func() time.Time

	mu       sync.Mutex
	accounts map[peer.ID]*account
	bans     map[peer.ID]time.Time // their ends; apart, as neither may crowd the other out
}

type account struct {
	faults int
	last   time.Time // fault, or use

	relayed, written, synced *rate.Limiter
	announced                *rate.Limiter
	sent, sentBytes, knocked *rate.Limiter // direct messages
}

func newConduct() *conduct {
	return &conduct{now: time.Now, accounts: map[peer.ID]*account{}, bans: map[peer.ID]time.Time{}}
}

// of returns the account of a peer, forgetting another when there are too many. The caller holds the lock.
func (c *conduct) of(id peer.ID) *account {
	a := c.accounts[id]
	if a == nil {
		if len(c.accounts) >= mostAccounts {
			c.forget()
		}
		a = &account{
			relayed: rate.NewLimiter(relayRate, relayBurst),
			written: rate.NewLimiter(authorRate, authorBurst),
			synced:  rate.NewLimiter(syncRate, syncBurst),

			announced: rate.NewLimiter(announceRate, announceBurst),

			sent:      rate.NewLimiter(directRate, directBurst),
			sentBytes: rate.NewLimiter(directByteRate, directByteBurst),
			knocked:   rate.NewLimiter(knockRate, knockBurst),
		}
		c.accounts[id] = a
	}
	if a.faults == 0 {
		a.last = c.now()
	}
	return a
}

// forget lets the account go that is longest out of use.
func (c *conduct) forget() {
	deleteOldest(c.accounts, func(a *account) time.Time { return a.last })
}

// ban bans a peer from now on. When too many are banned, the ban ends that began first.
func (c *conduct) ban(id peer.ID) {
	if _, again := c.bans[id]; !again && len(c.bans) >= mostBans {
		deleteOldest(c.bans, func(end time.Time) time.Time { return end })
	}
	c.bans[id] = c.now().Add(banTime)
}

// deleteOldest removes the peer with the earliest time from a map that is not empty.
func deleteOldest[T any](peers map[peer.ID]T, timeOf func(T) time.Time) {
	var oldest peer.ID
	var earliest time.Time
	for id, entry := range peers {
		if at := timeOf(entry); oldest == "" || at.Before(earliest) {
			oldest, earliest = id, at
		}
	}
	delete(peers, oldest)
}

// Whether a peer may do one more of something.
func (c *conduct) mayRelay(id peer.ID) bool {
	return c.may(id, func(a *account) *rate.Limiter { return a.relayed })
}
func (c *conduct) mayWrite(id peer.ID) bool {
	return c.may(id, func(a *account) *rate.Limiter { return a.written })
}
func (c *conduct) maySync(id peer.ID) bool {
	return c.may(id, func(a *account) *rate.Limiter { return a.synced })
}
func (c *conduct) mayAnnounce(id peer.ID, subscriptions int) bool {
	return c.mayMany(id, subscriptions, func(a *account) *rate.Limiter { return a.announced })
}
func (c *conduct) maySend(id peer.ID) bool {
	return c.may(id, func(a *account) *rate.Limiter { return a.sent })
}
func (c *conduct) maySendBytes(id peer.ID, bytes int) bool {
	return c.mayMany(id, bytes, func(a *account) *rate.Limiter { return a.sentBytes })
}
func (c *conduct) mayKnock(id peer.ID) bool {
	return c.may(id, func(a *account) *rate.Limiter { return a.knocked })
}

func (c *conduct) may(id peer.ID, which func(*account) *rate.Limiter) bool {
	return c.mayMany(id, 1, which)
}

func (c *conduct) mayMany(id peer.ID, count int, which func(*account) *rate.Limiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return which(c.of(id)).AllowN(c.now(), count)
}

// fault notes something that no honest node does; true when that was one too
// many.
func (c *conduct) fault(id peer.ID, weight int) (banned bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, now := c.of(id), c.now()
	if now.Sub(a.last) > forgivenAfter {
		a.faults = 0
	}
	a.faults += weight
	a.last = now
	if a.faults < mostFaults {
		return false
	}
	c.ban(id)
	return true
}

func (c *conduct) isBanned(id peer.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().Before(c.bans[id])
}

// blame notes a fault of a peer and breaks with it when there were too many. It
// does not wait for the connection to be closed.
func (n *Node) blame(id peer.ID, weight int, why error) {
	if id == n.host.ID() {
		return
	}
	n.log.Info("a peer misbehaves", "peer", id, "error", why)
	if n.conduct.fault(id, weight) {
		n.log.Warn("peer disconnected for misbehaviour", "peer", id, "for", banTime, "last", why)
		go n.host.Network().ClosePeer(id)
	}
}

// refuseBanned closes connections to banned peers as soon as they are made.
func (n *Node) refuseBanned() {
	bundle := &network.NotifyBundle{ConnectedF: func(_ network.Network, c network.Conn) {
		if n.conduct.isBanned(c.RemotePeer()) {
			go c.Close() // closing from within the notification would wait for itself
		}
	}}
	n.host.Network().Notify(bundle)
	n.onClose(func() error { n.host.Network().StopNotify(bundle); return nil })
}

// rejections tells of gossip that pubsub itself finds malformed.
type rejections struct {
	noTracer
	node *Node
}

func (r rejections) RejectMessage(m *pubsub.Message, reason string) {
	switch reason {
	case pubsub.RejectMissingSignature, pubsub.RejectInvalidSignature, pubsub.RejectUnexpectedAuthInfo:
		r.node.blame(m.ReceivedFrom, 1, errors.New(reason))
	}
}
