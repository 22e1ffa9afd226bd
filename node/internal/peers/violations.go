package peers

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"
)

// What is tolerated from one peer.
const (
	MaxViolations     = 3                // things that no honest node does, within violationLifetime
	violationLifetime = 10 * time.Minute // since the last of them
	BanTime           = 10 * time.Minute

	MaxRecords = 4096 // peers that are remembered, and as many authors
	maxBans    = 4096 // at a time, of peers, and as many of authors
	MaxRanges  = 4096 // of addresses from which a peer was banned

	maxBannedInRange = 3 // at a time, with which the range is banned
)

// peerTable holds a bounded number of records, and drops the least recently used.
type peerTable struct {
	records map[peer.ID]*peerRecord
	bans    map[peer.ID]time.Time // their ends; apart, as neither may crowd the other out
}

type peerRecord struct {
	violations int
	last       time.Time // violation, or use
	delivered  time.Time // when it last delivered a new share
	limiters   [ops]*rate.Limiter
}

// rangeRecord holds the bans of peers from one range of addresses.
type rangeRecord struct {
	banned map[peer.ID]time.Time // the ends of the bans
	last   time.Time
	end    time.Time // of the ban of the range
}

func newPeerTable() peerTable {
	return peerTable{records: map[peer.ID]*peerRecord{}, bans: map[peer.ID]time.Time{}}
}

// of returns a record, and removes another when there are too many.
func (b *peerTable) of(id peer.ID, now time.Time) *peerRecord {
	a := b.records[id]
	if a == nil {
		if len(b.records) >= MaxRecords {
			deleteOldest(b.records, func(a *peerRecord) time.Time { return a.last })
		}
		a = &peerRecord{}
		b.records[id] = a
	}
	if a.violations == 0 {
		a.last = now
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
	if a.violations < MaxViolations {
		return false
	}
	// When too many are banned, the ban ends that began first.
	if _, again := b.bans[id]; !again && len(b.bans) >= maxBans {
		deleteOldest(b.bans, func(end time.Time) time.Time { return end })
	}
	b.bans[id] = now.Add(BanTime)
	return true
}

// deleteOldest removes the entry with the earliest time from a map that is not empty.
func deleteOldest[K cmp.Ordered, T any](entries map[K]T, timeOf func(T) time.Time) {
	var oldest K
	var earliest time.Time
	first := true
	for key, entry := range entries {
		at := timeOf(entry)
		if order := at.Compare(earliest); first || order < 0 || order == 0 && key < oldest {
			oldest, earliest, first = key, at, false
		}
	}
	delete(entries, oldest)
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
	p.mu.Lock()
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
	r := p.ranges[from.String()]
	if r == nil {
		if len(p.ranges) >= MaxRanges {
			deleteOldest(p.ranges, func(r *rangeRecord) time.Time { return r.last })
		}
		r = &rangeRecord{banned: map[peer.ID]time.Time{}}
		p.ranges[from.String()] = r
	}
	r.last = now
	for other, end := range r.banned {
		if !now.Before(end) {
			delete(r.banned, other)
		}
	}
	if r.banned[id] = now.Add(BanTime); len(r.banned) > maxBannedInRange {
		deleteOldest(r.banned, func(end time.Time) time.Time { return end })
	}
	if len(r.banned) < maxBannedInRange {
		return false
	}
	r.end = now.Add(BanTime)
	return true
}

// Banned reports whether a peer or author is banned.
func (p *Policy) Banned(now time.Time, id peer.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.banned(now, id)
}

func (p *Policy) banned(now time.Time, id peer.ID) bool {
	return now.Before(p.peers.bans[id]) || now.Before(p.authors.bans[id])
}

// Blocked reports whether connections with a peer at an address are refused: the peer or its range
// is banned. A range's ban exempts active peers without violations, which no new peer can be.
func (p *Policy) Blocked(now time.Time, id peer.ID, address multiaddr.Multiaddr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.banned(now, id) {
		return true
	}
	r, a := p.ranges[rangeOf(address).String()], p.peers.records[id]
	blocked := r != nil && now.Before(r.end) && !(a != nil && a.violations == 0 && now.Sub(a.delivered) < ActiveTime)
	return blocked && !p.named[id]
}
