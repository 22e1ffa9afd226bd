package node

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// reservations are those of a hub, by which nodes are reached that others cannot dial. libp2p's
// relay service counts them by address; here a range of addresses that has most loses one
// to another when there are no more.
type reservations struct {
	most int

	mu sync.Mutex
	of map[peer.ID]string // who has one, or has asked while there was one, and the group that it is of
}

func newReservations(most int) *reservations {
	return &reservations{most: most, of: map[peer.ID]string{}}
}

// take gives a place to a node of a group, if need be that of another, which is returned;
// false when there is none, since no other group would have more than the node's own.
func (p *reservations) take(id peer.ID, group string) (loses peer.ID, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.of[id]; !known && len(p.of) >= p.most {
		counts := map[string]int{}
		for _, other := range p.of {
			counts[other]++
		}
		largest := slices.Max(slices.Collect(maps.Values(counts)))
		if counts[group]+1 >= largest {
			return "", false
		}
		var crowding []peer.ID
		for other, its := range p.of {
			if counts[its] == largest {
				crowding = append(crowding, other)
			}
		}
		loses = crowding[rand.IntN(len(crowding))]
		delete(p.of, loses)
	}
	p.of[id] = group
	return loses, true
}

func (p *reservations) forget(id peer.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.of, id)
}
