package peers

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Constants for choosing which connections a node keeps when it has too many.
const (
	maxOutbound = 8                // outbound connections per task that are never evicted
	changePause = 10 * time.Minute // time after which one random protected connection is replaced

	ValueOnTask         = 50 // value of a peer on the task for the connection manager; higher than the values of other tags
	valueActive         = 50 // additional value of an active peer
	peersPerRange       = 2  // number of peers from one range of addresses without a penalty
	crowdedPenalty      = 5  // penalty for each further peer of the range
	maxCrowdedPenalties = 8  // maximum number of penalties of one peer

	valueListed = 1000 // value of peers on the allow list or in the task's roster
)

// neighbour is a connected peer with the properties that determine its connection's value.
type neighbour struct {
	peerActivity
	id       peer.ID
	from     netip.Prefix // range of its address (wideRange)
	outbound bool
	listed   bool
}

// connectionValues returns the value of each neighbour's connection. When there are too many, the
// node closes those with the smallest values. In a crowded range, active peers come first, then
// those that joined first; each further peer gets a smaller value.
func connectionValues(now time.Time, all []neighbour) map[peer.ID]int {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b neighbour) int {
		if a.isActive(now) != b.isActive(now) {
			if a.isActive(now) {
				return -1
			}
			return 1
		}
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id))
	})
	worth, ofRange := map[peer.ID]int{}, map[netip.Prefix]int{}
	for _, n := range all {
		value := ValueOnTask
		if n.isActive(now) {
			value += valueActive
		}
		value -= crowdedPenalty * min(max(ofRange[n.from]+1-peersPerRange, 0), maxCrowdedPenalties)
		ofRange[n.from]++
		if n.listed {
			value = valueListed
		}
		worth[n.id] = value
	}
	return worth
}

// protect updates the set of outbound neighbours that are never evicted. Neighbours that are no
// longer active leave the set. Free places go to active ones from ranges with the fewest members in
// the set, and among these to those that joined first. If change is true and another neighbour is
// available, one random neighbour loses its place. It returns the peers that entered the set
// (ready) and those that left it (gone).
func (t *Task) protect(now time.Time, all []neighbour, change bool) (ready, gone []peer.ID) {
	before := maps.Clone(t.kept)
	ofRange := map[netip.Prefix]int{}
	there := map[peer.ID]bool{}
	var others []neighbour
	for _, n := range all {
		if !n.outbound || !n.isActive(now) {
			continue
		}
		there[n.id] = true
		if _, kept := t.kept[n.id]; kept {
			ofRange[n.from]++
		} else {
			others = append(others, n)
		}
	}
	maps.DeleteFunc(t.kept, func(id peer.ID, _ time.Time) bool { return !there[id] })
	if change && len(t.kept) == maxOutbound && len(others) > 0 {
		delete(t.kept, randomKey(t.policy.random, t.kept))
	}
	for len(t.kept) < maxOutbound && len(others) > 0 {
		best := slices.MinFunc(others, func(a, b neighbour) int {
			return cmp.Or(cmp.Compare(ofRange[a.from], ofRange[b.from]), a.since.Compare(b.since))
		})
		others = slices.DeleteFunc(others, func(n neighbour) bool { return n.id == best.id })
		ofRange[best.from]++
		t.kept[best.id] = now
	}
	for _, id := range slices.Sorted(maps.Keys(t.kept)) {
		if _, already := before[id]; !already {
			ready = append(ready, id)
		}
		delete(before, id)
	}
	return ready, slices.Sorted(maps.Keys(before))
}

// End empties the set of protected peers and returns its former members.
func (t *Task) End(now time.Time) (unprotect []peer.ID) {
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	_, gone := t.protect(now, nil, false)
	return gone
}

// neighbours returns the given connected peers as neighbours.
func (t *Task) neighbours(onTask []peer.ID) []neighbour {
	var all []neighbour
	for _, id := range onTask {
		n := neighbour{peerActivity: t.peers[id], id: id, listed: t.policy.listed[id] || t.roster[id]}
		for _, c := range t.policy.connections[id] {
			n.outbound = n.outbound || c.outbound
			if ip, ok := IP(c.address); ok {
				n.from = wideRange(ip)
			}
		}
		all = append(all, n)
	}
	return all
}

// crowding returns a function that counts the neighbours in the ranges of a peer's addresses and
// returns the largest count.
func crowding(all []neighbour) func(peer.AddrInfo) int {
	ofRange := map[netip.Prefix]int{}
	for _, n := range all {
		ofRange[n.from]++
	}
	return func(info peer.AddrInfo) int { return maxInRanges(info, WideRangeOf, ofRange) }
}
