package dialbudget

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// Attempts that have not been answered.
const (
	MaxAtAddress   = 4 // at once at one address (IPv6: one /64), and one more after each
	AddressPause   = 15 * time.Second
	MaxInRange     = 16 // the same in an IPv4 /24 or IPv6 /56
	RangePause     = 5 * time.Second
	MaxByReferrer  = 16 // the same of peers that one peer introduced
	ReferrerPause  = 10 * time.Second
	MaxByNamed     = 64 // the same if the user has named that peer: a hub introduces unknown peers
	NamedPause     = 2 * time.Second
	maxAnswers     = 4096 // peers of which it is remembered where they have answered
	answersOfPeer  = 8
	attemptTimeout = time.Minute // how long after an attempt an answer counts as its answer
)

// Budget keeps account of attempts. Its methods may be called from any goroutine.
type Budget struct {
	now    func() time.Time
	always []multiaddr.Multiaddr // the user's own
	exempt map[peer.ID]bool      // whom the user has named by a host name

	mu        sync.Mutex
	addresses *counter[netip.Prefix]
	ranges    *counter[netip.Prefix]
	referrers *counter[peer.ID]
	namedOnes map[peer.ID]bool
	byNamed   *counter[peer.ID] // of those
	attempts  map[peer.ID][]attempt
	answers   map[peer.ID][]multiaddr.Multiaddr // newest last
	swept     time.Time                         // when old attempts were forgotten
}

type attempt struct {
	ip netip.Addr
	at time.Time
}

// New returns one that allows what the user has named without limit.
func New(now func() time.Time, named ...peer.AddrInfo) *Budget {
	b := &Budget{
		now:       now,
		exempt:    map[peer.ID]bool{},
		addresses: newCounter[netip.Prefix](MaxAtAddress, AddressPause),
		ranges:    newCounter[netip.Prefix](MaxInRange, RangePause),
		referrers: newCounter[peer.ID](MaxByReferrer, ReferrerPause),
		namedOnes: map[peer.ID]bool{},
		byNamed:   newCounter[peer.ID](MaxByNamed, NamedPause),
		attempts:  map[peer.ID][]attempt{},
		answers:   map[peer.ID][]multiaddr.Multiaddr{},
	}
	for _, info := range named {
		b.namedOnes[info.ID] = true
		for _, a := range info.Addrs {
			b.always = append(b.always, a)
			if _, ok := IP(a); !ok {
				b.exempt[info.ID] = true // where its name leads turns out later
			}
		}
	}
	return b
}

// Allow takes an attempt at an address from its budgets; false when there is none left.
// Addresses that the user has named, or relayed ones through them, and those at which
// the peer has answered cost nothing.
func (b *Budget) Allow(id peer.ID, a multiaddr.Multiaddr) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	ip, ok := IP(a)
	if !ok || b.exempt[id] || b.isNamed(a) || b.hasAnswered(id, a) {
		return true
	}
	now := b.now()
	if !b.addresses.has(single(ip), now) || !b.ranges.has(Range(ip), now) {
		return false
	}
	b.addresses.take(single(ip), now)
	b.ranges.take(Range(ip), now)
	if len(b.attempts) >= maxKept && now.Sub(b.swept) >= attemptTimeout {
		b.swept = now
		b.forgetAttempts(now)
	}
	recent := slices.DeleteFunc(b.attempts[id], func(made attempt) bool { return now.Sub(made.at) > attemptTimeout })
	b.attempts[id] = append(recent, attempt{ip, now})
	return true
}

func (b *Budget) isNamed(a multiaddr.Multiaddr) bool {
	for i, part := range a {
		if part.Protocol().Code == multiaddr.P_P2P {
			a = a[:i]
			break
		}
	}
	return slices.ContainsFunc(b.always, a.Equal)
}

// forgetAttempts lets those go that nobody will answer any more.
func (b *Budget) forgetAttempts(now time.Time) {
	for id, list := range b.attempts {
		if now.Sub(list[len(list)-1].at) > attemptTimeout {
			delete(b.attempts, id)
		}
	}
}

// Answered notes that a peer has answered at an address, and gives back what attempts
// there have cost; those at other addresses of the peer stay spent.
func (b *Budget) Answered(id peer.ID, a multiaddr.Multiaddr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if ip, ok := IP(a); ok {
		for _, made := range b.attempts[id] {
			if made.ip == ip && now.Sub(made.at) <= attemptTimeout {
				b.addresses.giveBack(single(ip), now)
				b.ranges.giveBack(Range(ip), now)
			}
		}
	}
	delete(b.attempts, id)
	known := slices.DeleteFunc(b.answers[id], a.Equal)
	if len(known) == 0 && len(b.answers) >= maxAnswers {
		for other := range b.answers {
			delete(b.answers, other)
			break
		}
	}
	b.answers[id] = append(known[max(0, len(known)-answersOfPeer+1):], a)
}

// HasAnswered tells whether a peer has answered at one of these addresses.
func (b *Budget) HasAnswered(id peer.ID, addresses ...multiaddr.Multiaddr) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(addresses, func(a multiaddr.Multiaddr) bool { return b.hasAnswered(id, a) })
}

func (b *Budget) hasAnswered(id peer.ID, a multiaddr.Multiaddr) bool {
	return slices.ContainsFunc(b.answers[id], a.Equal)
}

// LastAnswer is the address at which a peer has answered last; nil when it has not.
func (b *Budget) LastAnswer(id peer.ID) multiaddr.Multiaddr {
	b.mu.Lock()
	defer b.mu.Unlock()
	if list := b.answers[id]; len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
}

// MayTry tells whether a peer that this one told of may be tried, Try takes that from the
// teller's budget, and Reached gives it back.
func (b *Budget) MayTry(referrer peer.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.addReferrer(referrer).has(referrer, b.now())
}

func (b *Budget) Try(referrer peer.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addReferrer(referrer).take(referrer, b.now())
}

func (b *Budget) Reached(referrer peer.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addReferrer(referrer).giveBack(referrer, b.now())
}

func (b *Budget) addReferrer(referrer peer.ID) *counter[peer.ID] {
	if b.namedOnes[referrer] {
		return b.byNamed
	}
	return b.referrers
}
