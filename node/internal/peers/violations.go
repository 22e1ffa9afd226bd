package peers

import (
	"net/netip"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"
)

// Limits on the violations of one peer.
const (
	MaxViolations     = 3                // violations that ban a peer
	violationLifetime = 10 * time.Minute // violations are forgotten this long after the last one
	BanTime           = 10 * time.Minute

	MaxRecords = 4096 // records of peers, and the same number of authors' records
	maxBans    = 4096 // concurrent bans of peers, and the same number of authors' bans
	MaxRanges  = 4096 // ranges of addresses with banned peers

	maxBannedInRange = 3 // concurrently banned peers of a range that ban the whole range
)

// peerTable holds the records and bans of peers, or of authors.
type peerTable struct {
	records table[peer.ID, *peerRecord]
	bans    table[peer.ID, time.Time] // end of each ban; in a separate table, so that records and bans do not displace each other
}

type peerRecord struct {
	violations int
	last       time.Time // time of the last violation or, without violations, of the last use
	delivered  time.Time // time of the last new share that the peer delivered
	limiters   [ops]*rate.Limiter
}

// rangeRecord holds the bans of peers from one range of addresses.
type rangeRecord struct {
	banned table[peer.ID, time.Time] // end of each peer's ban
	end    time.Time                 // end of the range's ban
}

func newPeerTable() peerTable {
	return peerTable{newTable[peer.ID, *peerRecord](MaxRecords), newTable[peer.ID, time.Time](maxBans)}
}

// of returns the record of a peer. If there are too many records, it removes the oldest one.
func (b *peerTable) of(id peer.ID, now time.Time) *peerRecord {
	a, ok := b.records.get(id)
	if !ok {
		a = &peerRecord{}
		b.records.put(id, a)
	}
	if a.violations == 0 {
		a.last = now
		b.records.touch(id)
	}
	return a
}

// violation adds a violation of the given weight to a peer's record, and reports whether the peer
// is now banned.
func (b *peerTable) violation(id peer.ID, weight int, now time.Time) (banned bool) {
	a := b.of(id, now)
	if now.Sub(a.last) > violationLifetime {
		a.violations = 0
	}
	a.violations += weight
	a.last = now
	b.records.touch(id)
	if a.violations < MaxViolations {
		return false
	}
	b.bans.put(id, now.Add(BanTime)) // if there are too many bans, the oldest one ends
	return true
}

func (b *peerTable) banned(id peer.ID, now time.Time) bool {
	end, _ := b.bans.get(id)
	return now.Before(end)
}

// Verdict is the result of a violation. If the peer is banned, the caller must close its
// connections. If ranges are banned, it must close all connections for which Blocked is true.
type Verdict struct {
	Banned bool
	Ranges []netip.Prefix // ranges that are banned with the peer
}

// Violated records an action of a peer that no honest node takes. A malformed message is a
// violation by the peer that relayed it, since an honest peer checks messages first. Two different
// shares with one stamp (epoch and sequence) are a violation by their author. A peer with three
// violations is banned for ten minutes.
//
// Three banned peers from one range of addresses ban the range for ten minutes, since new
// identities cost nothing. Peers that the user has named are exempt. Active peers are exempt too,
// since they may share an address with an attacker by chance. A peer without a connection may be
// fabricated, so it never bans a range.
func (p *Policy) Violated(now time.Time, id peer.ID, weight int) Verdict {
	now = p.lock(now)
	defer p.mu.Unlock()
	if len(p.connections[id]) == 0 {
		return Verdict{Banned: p.authors.violation(id, weight, now)}
	}
	var from []netip.Prefix
	for _, c := range p.connections[id] {
		if r := rangeOf(c.address); !slices.Contains(from, r) {
			from = append(from, r)
		}
	}
	return p.violation(now, id, weight, from...)
}

// violation records a violation of a peer that is connected from the given ranges.
func (p *Policy) violation(now time.Time, id peer.ID, weight int, from ...netip.Prefix) Verdict {
	if !p.peers.violation(id, weight, now) {
		return Verdict{}
	}
	v := Verdict{Banned: true}
	for _, r := range from {
		if r.IsValid() && !r.Addr().IsLoopback() && p.named[id] == 0 && p.noteBanInRange(r, id, now) {
			v.Ranges = append(v.Ranges, r)
		}
	}
	return v
}

// noteBanInRange records that a peer from a range was banned, and reports whether the range is now
// banned too.
func (p *Policy) noteBanInRange(from netip.Prefix, id peer.ID, now time.Time) bool {
	r, ok := p.ranges.get(from)
	if !ok {
		r = &rangeRecord{banned: newTable[peer.ID, time.Time](maxBannedInRange)}
	}
	p.ranges.put(from, r)
	for other, end, ok := r.banned.oldest(); ok && !now.Before(end); other, end, ok = r.banned.oldest() {
		r.banned.delete(other)
	}
	if r.banned.put(id, now.Add(BanTime)); r.banned.len() < maxBannedInRange {
		return false
	}
	r.end = now.Add(BanTime)
	return true
}

// Banned reports whether a peer or author is banned.
func (p *Policy) Banned(now time.Time, id peer.ID) bool {
	now = p.lock(now)
	defer p.mu.Unlock()
	return p.banned(now, id)
}

func (p *Policy) banned(now time.Time, id peer.ID) bool {
	return p.peers.banned(id, now) || p.authors.banned(id, now)
}

// Refused reports whether the node exchanges no messages with a peer, because the peer is banned or
// may not take part.
func (p *Policy) Refused(now time.Time, id peer.ID) bool {
	return !p.MayTakePart(id) || p.Banned(now, id)
}

// Blocked reports whether the node refuses connections with a peer at an address, because the peer
// or its range is banned. The ban of a range exempts peers that the user has named, and active
// peers without violations, which a new identity cannot be.
func (p *Policy) Blocked(now time.Time, id peer.ID, address multiaddr.Multiaddr) bool {
	now = p.lock(now)
	defer p.mu.Unlock()
	if p.banned(now, id) {
		return true
	}
	r, _ := p.ranges.get(rangeOf(address))
	a, _ := p.peers.records.get(id)
	blocked := r != nil && now.Before(r.end) && !(a != nil && a.violations == 0 && now.Sub(a.delivered) < ActiveTime)
	return blocked && p.named[id] == 0
}
