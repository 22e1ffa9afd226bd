package peers

import (
	"math/rand/v2"
	"net/netip"
	"slices"
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

// attempts limits dials to addresses that a node has only from peers, and records which have
// answered. Any peer can sign a record with a third party's address; without limits nodes would
// flood that address with dials.
//
// An attempt takes one from the budget of the address and one from that of its range, and gets both
// back when the peer that was dialled answers there. So a hundred nodes behind one address are
// reached as fast as they answer, and an address where none answers gets 4 attempts at once and one
// in 15 s after that, its range 16 and one in 5 s. The peer that introduced the address has a budget
// too.
type attempts struct {
	random *rand.Rand
	always []multiaddr.Multiaddr // the user's own
	exempt map[peer.ID]bool      // peers that the user has named by a host name

	addresses *counter[netip.Prefix]
	ranges    *counter[netip.Prefix]
	referrers *counter[peer.ID]
	namedOnes map[peer.ID]bool
	byNamed   *counter[peer.ID] // of those
	made      map[peer.ID][]attempt
	answers   map[peer.ID][]multiaddr.Multiaddr // newest last
	answering keySet[peer.ID]                   // those with an answer
	swept     time.Time                         // when old attempts were forgotten
}

type attempt struct {
	ip netip.Addr
	at time.Time
}

// newAttempts returns attempts that allow what the user has named without limit.
func newAttempts(random *rand.Rand, named []peer.AddrInfo) *attempts {
	b := &attempts{
		random:    random,
		exempt:    map[peer.ID]bool{},
		addresses: newCounter[netip.Prefix](MaxAtAddress, AddressPause),
		ranges:    newCounter[netip.Prefix](MaxInRange, RangePause),
		referrers: newCounter[peer.ID](MaxByReferrer, ReferrerPause),
		namedOnes: map[peer.ID]bool{},
		byNamed:   newCounter[peer.ID](MaxByNamed, NamedPause),
		made:      map[peer.ID][]attempt{},
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

// allow takes an attempt at an address from its budgets; false when there is none left.
// Addresses that the user has named, or relayed ones through them, and those at which
// the peer has answered cost nothing.
func (b *attempts) allow(now time.Time, id peer.ID, a multiaddr.Multiaddr) bool {
	ip, ok := IP(a)
	if !ok || b.exempt[id] || b.isNamed(a) || b.hasAnswered(id, a) {
		return true
	}
	if !b.addresses.has(single(ip), now) || !b.ranges.has(wideRange(ip), now) {
		return false
	}
	b.addresses.take(single(ip), now)
	b.ranges.take(wideRange(ip), now)
	if len(b.made) >= maxKept && now.Sub(b.swept) >= attemptTimeout {
		b.swept = now
		b.forgetAttempts(now)
	}
	recent := slices.DeleteFunc(b.made[id], func(made attempt) bool { return now.Sub(made.at) > attemptTimeout })
	b.made[id] = append(recent, attempt{ip, now})
	return true
}

func (b *attempts) isNamed(a multiaddr.Multiaddr) bool {
	for i, part := range a {
		if part.Protocol().Code == multiaddr.P_P2P {
			a = a[:i]
			break
		}
	}
	return slices.ContainsFunc(b.always, a.Equal)
}

// forgetAttempts removes attempts that are too old for an answer.
func (b *attempts) forgetAttempts(now time.Time) {
	for id, list := range b.made {
		if now.Sub(list[len(list)-1].at) > attemptTimeout {
			delete(b.made, id)
		}
	}
}

// answered records that a peer has answered at an address, and gives back what attempts
// there have cost; those at other addresses of the peer stay spent.
func (b *attempts) answered(now time.Time, id peer.ID, a multiaddr.Multiaddr) {
	if ip, ok := IP(a); ok {
		for _, made := range b.made[id] {
			if made.ip == ip && now.Sub(made.at) <= attemptTimeout {
				b.addresses.giveBack(single(ip), now)
				b.ranges.giveBack(wideRange(ip), now)
			}
		}
	}
	delete(b.made, id)
	known := slices.DeleteFunc(b.answers[id], a.Equal)
	if !b.answering.has(id) {
		if len(b.answers) >= maxAnswers {
			delete(b.answers, b.answering.removeRandom(b.random))
		}
		b.answering.add(id)
	}
	b.answers[id] = append(known[max(0, len(known)-answersOfPeer+1):], a)
}

// hasAnsweredAny reports whether a peer has answered at one of these addresses.
func (b *attempts) hasAnsweredAny(id peer.ID, addresses ...multiaddr.Multiaddr) bool {
	return slices.ContainsFunc(addresses, func(a multiaddr.Multiaddr) bool { return b.hasAnswered(id, a) })
}

func (b *attempts) hasAnswered(id peer.ID, a multiaddr.Multiaddr) bool {
	return slices.ContainsFunc(b.answers[id], a.Equal)
}

// lastAnswer is the address at which a peer has answered last; nil when it has not.
func (b *attempts) lastAnswer(id peer.ID) multiaddr.Multiaddr {
	if list := b.answers[id]; len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
}

// mayTry reports whether a peer that a referrer has introduced may be dialled, try takes that from
// the referrer's budget, and reached gives it back.
func (b *attempts) mayTry(now time.Time, referrer peer.ID) bool {
	return b.addReferrer(referrer).has(referrer, now)
}

func (b *attempts) try(now time.Time, referrer peer.ID) {
	b.addReferrer(referrer).take(referrer, now)
}

func (b *attempts) reached(now time.Time, referrer peer.ID) {
	b.addReferrer(referrer).giveBack(referrer, now)
}

func (b *attempts) addReferrer(referrer peer.ID) *counter[peer.ID] {
	if b.namedOnes[referrer] {
		return b.byNamed
	}
	return b.referrers
}

// AllowDial takes an attempt at an address from its budgets; false when there is none left.
// Addresses that the user has named, or relayed ones through them, and those at which the peer has
// answered cost nothing.
func (p *Policy) AllowDial(now time.Time, id peer.ID, address multiaddr.Multiaddr) bool {
	now = p.lock(now)
	defer p.mu.Unlock()
	return p.attempts.allow(now, id, address)
}

// Answered records that a peer has answered at an address, and gives back what attempts there have
// cost.
func (p *Policy) Answered(now time.Time, id peer.ID, address multiaddr.Multiaddr) {
	now = p.lock(now)
	defer p.mu.Unlock()
	p.attempts.answered(now, id, address)
}
