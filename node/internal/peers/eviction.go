package peers

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Constants for the choice of connections that a node keeps when it has too many.
const (
	maxOutbound = 8                // outbound connections of a task that are never evicted
	changePause = 10 * time.Minute // between replacements of a protected connection

	ValueOnTask         = 50 // of a connection manager's tag; above those of others
	valueActive         = 50 // added for an active peer
	peersPerRange       = 2  // peers from one range of addresses without a penalty
	crowdedPenalty      = 5  // for each further peer of the range
	maxCrowdedPenalties = 8  // penalties at most

	valueListed = 1000 // of peers on the allow list or in the task's roster
)

// neighbour is a peer as the choice of connections sees it.
type neighbour struct {
	peerActivity
	id       peer.ID
	from     netip.Prefix // its range of addresses
	outbound bool
	listed   bool
}

// connectionValues returns the value of each neighbour; the node keeps those with larger values.
// Among peers in one range, the active peers that joined first have the largest values.
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

// protect updates the set of outbound neighbours that are never evicted: those of the set that are
// still active, and others from the ranges with the fewest in it, those that joined first before
// others. With change a random one makes room for another, if there is another. It returns the peers
// that are new in the set, and those that are no longer in it.
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

// End ends the protection of peers, and returns those that were protected.
func (t *Task) End(now time.Time) (unprotect []peer.ID) {
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	_, gone := t.protect(now, nil, false)
	return gone
}

// neighbours returns the connected peers on a task as the choice of connections sees them.
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

// crowding returns a function for the number of neighbours with which a peer would share the most
// crowded of its ranges.
func crowding(all []neighbour) func(peer.AddrInfo) int {
	ofRange := map[netip.Prefix]int{}
	for _, n := range all {
		ofRange[n.from]++
	}
	return func(info peer.AddrInfo) int { return maxInRanges(info, WideRangeOf, ofRange) }
}
