package largetopic

import (
	"cmp"
	"time"
)

// Limits of the authors that an agent knows. Authors become known through peers, and identities cost nothing:
// one peer could fabricate as many authors as the agent has places. While there is room, every author gets a place. After that, the largest
// group of authors loses places to smaller groups. A group is the authors from one range of addresses, one hub or
// one introducing peer, since these cost more than identities. A fixed number of places per group
// would exclude federations behind one address.
const (
	MaxAuthors = 1024

	// If all places are taken, a newcomer from a group that is no smaller than the others can
	// displace only an author that has been silent for this time. So a flood of new identities
	// cannot evict active peers.
	ProtectedTime = 30 * time.Minute

	// If the agent knows half of the authors that it can store, it relays only MaxRelayed of each group's
	// unmet authors. Authors from a named source do not count. Otherwise one peer that fabricates
	// authors would also fill the places at this agent's peers.
	MaxRelayed = 64
)

// RelaysUnmet reports whether an agent relays the shares of an author that it does not know yet and has never met. It
// knows as many authors as given, of at most limit, and relays those of relayed unmet authors of the same group.
func RelaysUnmet(known, limit, relayed int) bool {
	return known < limit/2 || relayed < MaxRelayed
}

// Place is an author that Evict may select.
type Place[ID cmp.Ordered] struct {
	Author      ID
	Group       int32 // index of the author's group
	Size        int32
	Received    int64 // Unix time in ns of the latest accepted share
	Met, Listed bool
	Gone        bool // selected
}

// goesBefore reports whether an author is evicted before another of the same rank. Unlisted authors
// come before listed ones, then unmet before met ones, then the author whose latest share is older.
func (p *Place[ID]) goesBefore(other *Place[ID]) bool {
	switch {
	case p.Listed != other.Listed:
		return other.Listed
	case p.Met != other.Met:
		return other.Met
	}
	return p.Received < other.Received || p.Received == other.Received && p.Author < other.Author
}

// Newcomer is the author whose shares are about to grow by Grows units.
type Newcomer[ID cmp.Ordered] struct {
	Author ID
	Group  int32 // index of its group; -1: none
	Grows  int
	Met    bool
}

// Evict selects authors to forget until `over` units of size are free. The argument sizes has the size of each group,
// without listed authors. It returns the indices of the places. If not enough authors may be evicted, ok is false
// and gone is nil. It marks the places as gone, and subtracts them from sizes.
//
// First the largest group loses authors, in the order of goesBefore, as long as it is larger than the
// newcomer's group after its growth. The agent itself and listed authors belong to no group: for them
// any largest group is larger. Next come unlisted authors of other groups:
//
//   - any author that was never met and has been silent for ProtectedTime;
//   - if the newcomer was met: an author that was never met or has been silent for ProtectedTime, in
//     the newcomer's own group or in a group that is no smaller.
//
// With force, any author except the newcomer may be evicted, listed ones last.
func Evict[ID cmp.Ordered](now time.Time, places []Place[ID], sizes []int, n Newcomer[ID], over int, force bool) (gone []int, ok bool) {
	has := 0 // the newcomer's group after its growth
	if n.Group >= 0 {
		has = sizes[n.Group] + n.Grows
	}
	silent := now.Add(-ProtectedTime).UnixNano()
	for over > 0 {
		most := has
		for _, size := range sizes {
			most = max(most, size)
		}
		next, rank := 0, 0
		for i := range places {
			p := &places[i]
			size, why := sizes[p.Group], 0
			switch {
			case p.Gone || p.Author == n.Author:
			case !p.Listed && most > has && size == most:
				why = 3
			case !p.Listed && !p.Met && p.Received < silent:
				why = 2
			case !p.Listed && n.Met && (p.Group == n.Group || size >= has) && (!p.Met || p.Received < silent):
				why = 2
			case force:
				why = 1
			}
			if why > rank || why > 0 && why == rank && p.goesBefore(&places[next]) {
				next, rank = i, why
			}
		}
		if rank == 0 {
			return nil, false
		}
		places[next].Gone = true
		if !places[next].Listed {
			sizes[places[next].Group] -= int(places[next].Size)
		}
		over -= int(places[next].Size)
		gone = append(gone, next)
	}
	return gone, true
}
