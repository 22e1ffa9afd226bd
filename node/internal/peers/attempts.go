package peers

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// Limits on dials that have not been answered.
const (
	MaxAtAddress   = 4 // at once to one address (IPv6: one /64); one more is allowed after each AddressPause
	AddressPause   = 15 * time.Second
	MaxInRange     = 16 // the same for an IPv4 /24 or IPv6 /56
	RangePause     = 5 * time.Second
	MaxByReferrer  = 16 // the same for peers that one peer introduced
	ReferrerPause  = 10 * time.Second
	MaxByNamed     = 64 // the same if the user has named the introducing peer, such as a hub, which introduces unknown peers
	NamedPause     = 2 * time.Second
	maxAnswers     = 4096 // peers for which answering addresses are remembered
	answersOfPeer  = 8
	attemptTimeout = time.Minute // time after a dial in which an answer refunds it
)

// attempts limits dials to addresses that only peers have supplied, and records which addresses
// have answered. Any peer can sign a record with a third party's address; without limits nodes
// would flood that address with dials.
//
// A dial takes one unit from the budget of the address and one from that of its range. Both are
// refunded if the dialled peer answers there. So a hundred nodes behind one address are reached as
// fast as they answer. An address without answers gets 4 dials at once and then one in 15 s; its
// range gets 16 at once and then one in 5 s. The peer that introduced the address has a budget too.
type attempts struct {
	random *rand.Rand
	always []multiaddr.Multiaddr // addresses that the user has configured, once for each time
	exempt map[peer.ID]int       // peers that the user has configured with a host name, with the number of such addresses

	addresses *counter[netip.Prefix]
	ranges    *counter[netip.Prefix]
	referrers *counter[peer.ID]
	namedOnes map[peer.ID]int   // peers that the user has configured, with the number of times
	byNamed   *counter[peer.ID] // budgets of the referrers in namedOnes
	made      map[peer.ID][]attempt
	answers   map[peer.ID][]multiaddr.Multiaddr // addresses at which a peer has answered, newest last
	answering keySet[peer.ID]                   // keys of answers
	swept     time.Time                         // time of the last forgetAttempts
}

type attempt struct {
	ip netip.Addr
	at time.Time
}

func newAttempts(random *rand.Rand) *attempts {
	return &attempts{
		random:    random,
		exempt:    map[peer.ID]int{},
		addresses: newCounter[netip.Prefix](MaxAtAddress, AddressPause),
		ranges:    newCounter[netip.Prefix](MaxInRange, RangePause),
		referrers: newCounter[peer.ID](MaxByReferrer, ReferrerPause),
		namedOnes: map[peer.ID]int{},
		byNamed:   newCounter[peer.ID](MaxByNamed, NamedPause),
		made:      map[peer.ID][]attempt{},
		answers:   map[peer.ID][]multiaddr.Multiaddr{},
	}
}

// name ends the limits for a peer and its addresses.
func (b *attempts) name(info peer.AddrInfo) {
	b.namedOnes[info.ID]++
	for _, a := range info.Addrs {
		b.always = append(b.always, a)
		if _, ok := IP(a); !ok {
			b.exempt[info.ID]++ // the name's IP addresses are unknown here
		}
	}
}

// unname undoes one call of name with the same argument.
func (b *attempts) unname(info peer.AddrInfo) {
	decrement(b.namedOnes, info.ID)
	for _, a := range info.Addrs {
		if i := slices.IndexFunc(b.always, a.Equal); i >= 0 {
			b.always = slices.Delete(b.always, i, i+1)
		}
		if _, ok := IP(a); !ok {
			decrement(b.exempt, info.ID)
		}
	}
}

// allow takes one dial from the budgets of an address, and returns false if a budget is empty.
// Addresses that the user has named, relayed addresses through them, and addresses at which the
// peer has answered are free.
func (b *attempts) allow(now time.Time, id peer.ID, a multiaddr.Multiaddr) bool {
	ip, ok := IP(a)
	if !ok || b.exempt[id] > 0 || b.isNamed(a) || b.hasAnswered(id, a) {
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

// forgetAttempts removes the records of dials that are too old to be refunded.
func (b *attempts) forgetAttempts(now time.Time) {
	for id, list := range b.made {
		if now.Sub(list[len(list)-1].at) > attemptTimeout {
			delete(b.made, id)
		}
	}
}

// answered records that a peer has answered at an address, and refunds the recent dials of the peer
// there. Its dials to other addresses are not refunded.
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

// lastAnswer returns the address at which a peer answered most recently; nil if it has never
// answered.
func (b *attempts) lastAnswer(id peer.ID) multiaddr.Multiaddr {
	if list := b.answers[id]; len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
}

// mayTry reports whether a referrer's budget allows one more dial of a peer that it introduced. The
// method try takes that dial from the budget, and reached refunds it.
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
	if b.namedOnes[referrer] > 0 {
		return b.byNamed
	}
	return b.referrers
}

// AllowDial takes one dial from the budgets of an address, and returns false if a budget is empty.
// Addresses that the user has named, relayed addresses through them, and addresses at which the
// peer has answered are free.
func (p *Policy) AllowDial(now time.Time, id peer.ID, address multiaddr.Multiaddr) bool {
	now = p.lock(now)
	defer p.mu.Unlock()
	return p.attempts.allow(now, id, address)
}

// Answered records that a peer has answered at an address, and refunds its dials there.
func (p *Policy) Answered(now time.Time, id peer.ID, address multiaddr.Multiaddr) {
	now = p.lock(now)
	defer p.mu.Unlock()
	p.attempts.answered(now, id, address)
}
