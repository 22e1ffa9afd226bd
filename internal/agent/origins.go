package agent

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/largetopic"
)

// Source describes the peer that sent a share or introduced its author. The zero value is an
// unknown peer.
type Source struct {
	Group string // origin that costs more than an identity, such as a range of addresses; empty: unknown
	Named bool   // the agent's user has named the peer and trusts it not to fabricate authors

	Gossiped bool // the share has come by gossip, so that the agent forwards it if it is accepted
	Author   bool // the peer is the share's author
}

// origin holds the group of an author: that of its latest connection or, without a connection, that
// of the first source of its shares.
type origin struct {
	group  string
	relays bool      // the agent relays the author's shares
	spent  time.Time // state of largetopic.Admit
}

// Relays reports whether the agent relays an author's shares to other peers. It stores shares even
// if it does not relay them.
func (a *Agent) Relays(author peer.ID) bool { return a.shares.relays(author) }

func (s *shares) relays(author peer.ID) bool {
	return author == s.self || s.met[author] || s.room.listed[author] || s.origins[author].relays
}

// noteContact stores the group of the latest connection to an author. From then on the author's
// shares are relayed.
func (s *shares) noteContact(author peer.ID, group string) {
	s.origins[author] = origin{group: group, relays: true, spent: s.origins[author].spent}
}

// groupOf returns the group of an author. For an author without a place it returns the group that
// the source would give it.
func (s *shares) groupOf(author peer.ID, by Source) string {
	if p, ok := s.origins[author]; ok {
		return p.group
	}
	return by.Group
}

// placeAuthor stores the origin of an author that has none yet.
func (s *shares) placeAuthor(author peer.ID, by Source) {
	if _, ok := s.origins[author]; ok || author == s.self {
		return
	}
	passed := 0
	for other, p := range s.origins {
		if p.relays && p.group == by.Group && !s.met[other] {
			passed++
		}
	}
	s.origins[author] = origin{group: by.Group, relays: by.Named || largetopic.RelaysUnmet(len(s.origins), s.room.maxAuthors(), passed)}
}

// admit reports whether to accept one more gossiped share of an author in a large topic, and counts it. A new
// author's first share is not counted. The pause is that between the agent's own presence messages.
func (s *shares) admit(now time.Time, author peer.ID, pause time.Duration) (ok bool) {
	o, placed := s.origins[author]
	if !placed || s.room.listed[author] {
		return true
	}
	if o.spent, ok = largetopic.Admit(o.spent, now, pause); ok {
		s.origins[author] = o
	}
	return ok
}

// authors returns the number of authors with stored shares, without the agent itself.
func (s *shares) authors() (count int) {
	for i, h := range s.order {
		if h.Author != s.self && (i == 0 || h.Author != s.order[i-1].Author) {
			count++
		}
	}
	return count
}

// places returns all authors except the agent itself, each with the size of its stored shares, and the
// size of each group.
func (s *shares) places(size func(bytes int) int) (all []largetopic.Place[peer.ID], sizes []int, groups map[string]int32) {
	all, groups = make([]largetopic.Place[peer.ID], 0, len(s.order)), map[string]int32{}
	for i, h := range s.order {
		if h.Author == s.self {
			continue
		}
		if i == 0 || h.Author != s.order[i-1].Author {
			name := s.origins[h.Author].group
			group, ok := groups[name]
			if !ok {
				group = int32(len(sizes))
				groups[name], sizes = group, append(sizes, 0)
			}
			p := largetopic.Place[peer.ID]{Author: h.Author, Group: group, Met: s.met[h.Author], Listed: s.room.listed[h.Author],
				Size: int32(size(s.room.authors[h.Author])), Received: h.accepted.UnixNano()}
			if !p.Listed {
				sizes[group] += int(p.Size)
			}
			all = append(all, p)
		}
		last := &all[len(all)-1]
		last.Received = max(last.Received, h.accepted.UnixNano())
	}
	return all, sizes, groups
}

// The two units in which evict measures shares: authors and bytes.
func inAuthors(int) int     { return 1 }
func inBytes(bytes int) int { return bytes }

// evict selects authors to forget until `over` units of size are free, by largetopic.Evict. The newcomer is the author
// whose shares are about to grow by `grows` units. If not enough authors may be evicted, ok is false
// and gone is nil.
func (s *shares) evict(now time.Time, newcomer peer.ID, by Source, size func(bytes int) int, grows, over int, force bool) (gone []peer.ID, ok bool) {
	all, sizes, groups := s.places(size)
	n := largetopic.Newcomer[peer.ID]{Author: newcomer, Group: -1, Grows: grows, Met: s.met[newcomer]}
	if s.counts(newcomer) {
		own := s.groupOf(newcomer, by)
		group, known := groups[own]
		if !known {
			group, sizes = int32(len(sizes)), append(sizes, 0)
		}
		n.Group = group
	}
	selected, ok := largetopic.Evict(now, all, sizes, n, over, force)
	for _, i := range selected {
		gone = append(gone, all[i].Author)
	}
	return gone, ok
}

// forget removes all shares of the given authors.
func (s *shares) forget(authors []peer.ID) {
	for _, author := range authors {
		for len(s.of(author)) > 0 {
			s.remove(s.of(author)[0].Key)
		}
	}
}
