package ratelimitlog

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits on written records: after a burst, one record per pause. There is one limit for each kind
// and peer, and one for each kind over all peers. The second is needed because an attacker can use
// many identities.
const (
	peerBurst, peerPause = 20, time.Minute
	kindBurst, kindPause = 100, 10 * time.Second

	maxKinds = 256  // all further kinds count as one
	maxPeers = 1024 // peers per kind; all further peers count as one
)

// Limit limits the rate of messages of each kind, and of each kind and peer. It is safe for
// concurrent use.
type Limit struct {
	now func() time.Time

	mu    sync.Mutex
	kinds map[string]*kind
}

// kind holds the limits of one kind of message.
type kind struct {
	account
	peers map[string]*account
}

// account holds a limiter, and the number of records omitted since the last one that was written.
type account struct {
	limiter *rate.Limiter
	left    int
}

// NewLimit returns a Limit with the real clock.
func NewLimit() *Limit { return newLimit(time.Now) }

func newLimit(now func() time.Time) *Limit { return &Limit{now: now, kinds: map[string]*kind{}} }

// Allow reports whether to write a message of the given kind (name) about a peer. If so, left is
// the number of similar messages that were omitted before. An empty peer means that the message is
// about no peer.
func (l *Limit) Allow(name, peer string) (left int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.kindOf(name)
	about := k.peerOf(peer)
	now := l.now()
	if !about.limiter.AllowN(now, 1) {
		about.left++
		return 0, false
	}
	if !k.limiter.AllowN(now, 1) {
		k.left++
		return 0, false
	}
	left = about.left + k.left
	about.left, k.left = 0, 0
	return left, true
}

// Left returns, for each kind, the number of omitted messages that have not been reported, and sets
// these numbers to zero.
func (l *Limit) Left() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]int{}
	for name, k := range l.kinds {
		left := k.left
		k.left = 0
		for _, about := range k.peers {
			left += about.left
			about.left = 0
		}
		if left > 0 {
			all[name] = left
		}
	}
	return all
}

func (l *Limit) kindOf(name string) *kind {
	if k, ok := l.kinds[name]; ok {
		return k
	}
	if len(l.kinds) >= maxKinds {
		name = ""
		if k, ok := l.kinds[name]; ok {
			return k
		}
	}
	k := &kind{account{limiter: rate.NewLimiter(rate.Every(kindPause), kindBurst)}, map[string]*account{}}
	l.kinds[name] = k
	return k
}

func (k *kind) peerOf(peer string) *account {
	if about, ok := k.peers[peer]; ok {
		return about
	}
	if len(k.peers) >= maxPeers {
		peer = ""
		if about, ok := k.peers[peer]; ok {
			return about
		}
	}
	about := &account{limiter: rate.NewLimiter(rate.Every(peerPause), peerBurst)}
	k.peers[peer] = about
	return about
}
