package peers

import (
	"net/netip"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"
)

// Limits of tolerated violations of one peer.
const (
	MaxViolations     = 3                // things that no honest node does, within violationLifetime
	violationLifetime = 10 * time.Minute // since the last of them
	BanTime           = 10 * time.Minute

	MaxRecords = 4096 // peers that are remembered, and as many authors
	maxBans    = 4096 // at a time, of peers, and as many of authors
	MaxRanges  = 4096 // of addresses from which a peer was banned

	maxBannedInRange = 3 // at a time, with which the range is banned
)

// peerTable holds the records and bans of peers, or of authors.
type peerTable struct {
	records table[peer.ID, *peerRecord]
	bans    table[peer.ID, time.Time] // their ends; apart, as neither may crowd the other out
}

type peerRecord struct {
	violations int
	last       time.Time // violation, or use
	delivered  time.Time // when it last delivered a new share
	limiters   [ops]*rate.Limiter
}

// rangeRecord holds the bans of peers from one range of addresses.
type rangeRecord struct {
	banned table[peer.ID, time.Time] // the ends of the bans
	end    time.Time                 // of the ban of the range
}

func newPeerTable() peerTable {
	return peerTable{newTable[peer.ID, *peerRecord](MaxRecords), newTable[peer.ID, time.Time](maxBans)}
}

// of returns a record, and removes another when there are too many.
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

// violation records something that no honest node does, and reports whether it was one too many.
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
	b.bans.put(id, now.Add(BanTime)) // when too many are banned, the ban ends that began first
	return true
}

func (b *peerTable) banned(id peer.ID, now time.Time) bool {
	end, _ := b.bans.get(id)
	return now.Before(end)
}

// Verdict is what follows from a violation. The connections of a banned peer are closed, and with a
// range those for which Blocked is true.
type Verdict struct {
	Banned bool
	Ranges []netip.Prefix // banned with the peer
}

// Violated records what a peer did that no honest node does. A malformed message is a violation by
// the peer that relayed it, since an honest peer checks messages first; two different shares with
// one stamp are a violation by their author. A peer with three violations is banned for ten
// minutes.
//
// Three banned peers from one range of addresses ban the range for ten minutes, since new
// identities cost nothing. Peers that the node's user has named are exempt, and so are active
// peers, which may share an address with an attacker by chance. A peer without a connection may be
// made up, and bans no range.
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

// violation records a violation of a peer that is connected from these ranges.
func (p *Policy) violation(now time.Time, id peer.ID, weight int, from ...netip.Prefix) Verdict {
	if !p.peers.violation(id, weight, now) {
		return Verdict{}
	}
	v := Verdict{Banned: true}
	for _, r := range from {
		if r.IsValid() && !r.Addr().IsLoopback() && !p.named[id] && p.noteBanInRange(r, id, now) {
			v.Ranges = append(v.Ranges, r)
		}
	}
	return v
}

// noteBanInRange records the ban of a peer from a range, and reports whether the range is now
// banned.
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

// Refused reports whether a node does not exchange messages with a peer: it may not take part, or is
// banned.
func (p *Policy) Refused(now time.Time, id peer.ID) bool {
	return !p.MayTakePart(id) || p.Banned(now, id)
}

// Blocked reports whether connections with a peer at an address are refused: the peer or its range
// is banned. A range's ban exempts active peers without violations, which no new peer can be.
func (p *Policy) Blocked(now time.Time, id peer.ID, address multiaddr.Multiaddr) bool {
	now = p.lock(now)
	defer p.mu.Unlock()
	if p.banned(now, id) {
		return true
	}
	r, _ := p.ranges.get(rangeOf(address))
	a, _ := p.peers.records.get(id)
	blocked := r != nil && now.Before(r.end) && !(a != nil && a.violations == 0 && now.Sub(a.delivered) < ActiveTime)
	return blocked && !p.named[id]
}
