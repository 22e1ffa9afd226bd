package agent

import (
	"cmp"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// distant is implemented by decoded shares that a keeper can compare.
type distant interface {
	Distance(other any) (distance float64, ok bool)
}

// PossibleKeepers returns those of some connected peers that may be keepers, which send no presence
// messages. In a small topic, and for a keeper, it returns none.
func (a *Agent) PossibleKeepers(now time.Time, peers []peer.ID) (keepers []peer.ID) {
	if a.keeping || !a.topic.large {
		return nil
	}
	present := map[peer.ID]bool{}
	for said := range a.presences(now) {
		present[said.Author] = true
	}
	for _, id := range peers {
		if !present[id] {
			keepers = append(keepers, id)
		}
	}
	return keepers
}

// suggestedTo returns the authors whose shares resemble those of an agent most, at most Large.Authors. It
// uses only shares that all agents of the task may read. Only a keeper suggests authors, since it has the
// shares of all. It is empty if the keeper has no share of the agent that it can compare.
func (a *Agent) suggestedTo(now time.Time, to peer.ID) (authors []peer.ID) {
	if !a.keeping || !a.topic.large {
		return nil
	}
	type near struct {
		author   peer.ID
		distance float64
	}
	for _, own := range a.shares.of(to) {
		mine, ok := own.Value.(distant)
		if !ok {
			continue
		}
		var all []near
		for said := range a.presences(now) {
			other, has := a.shares.held[protocol.Key{Author: said.Author, Kind: own.Kind, Slot: own.Slot}]
			if !has || said.Author == to || !other.expires.After(now) {
				continue
			}
			if distance, ok := mine.Distance(other.Value); ok {
				all = append(all, near{said.Author, distance})
			}
		}
		slices.SortFunc(all, func(a, b near) int {
			return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.author, b.author))
		})
		for _, n := range all[:min(len(all), a.cfg.Large.Authors)] {
			authors = append(authors, n.author)
		}
		return authors
	}
	return nil
}
