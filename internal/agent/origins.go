package agent

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// The rules of this file limit what fabricated authors can displace. Authors become known through
// peers, and identities cost nothing: one peer could fabricate as many authors as the agent has
// places. While there is room, every author gets a place. After that, the largest group of authors
// loses places to smaller groups. A group is the authors from one range of addresses, one hub or
// one introducing peer, since these cost more than identities. A fixed number of places per group
// would exclude federations behind one address.

// Source describes the peer that sent a share or introduced its author. The zero value is an
// unknown peer.
type Source struct {
	Group string // origin that costs more than an identity, such as a range of addresses; empty: unknown
	Named bool   // the agent's user has named the peer and trusts it not to fabricate authors
}

const (
	// If the agent knows half of the authors that it can store, it relays only maxRelayedAuthors of each group's
	// unmet authors. Authors from a Named source do not count. Otherwise one peer that fabricates
	// authors would also fill the places at this agent's peers.
	maxRelayedAuthors = 64
)

// origin holds the group of an author: that of its latest connection or, without a connection, that
// of the first source of its shares.
type origin struct {
	group  string
	relays bool // the agent relays the author's shares
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
	s.origins[author] = origin{group: group, relays: true}
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
	s.origins[author] = origin{group: by.Group, relays: by.Named || len(s.origins) < s.room.maxAuthors()/2 || passed < maxRelayedAuthors}
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

// candidate is an author that evict may select.
type candidate struct {
	author             peer.ID
	group              string
	received           time.Time // time of the latest accepted share
	size               int
	met, listed, leave bool
}

// candidates returns all authors except the agent itself, each with the size of its stored shares.
func (s *shares) candidates(size func(bytes int) int) []candidate {
	all := make([]candidate, 0, len(s.order))
	for i, h := range s.order {
		if h.Author == s.self {
			continue
		}
		if i == 0 || h.Author != s.order[i-1].Author {
			all = append(all, candidate{author: h.Author, group: s.origins[h.Author].group, met: s.met[h.Author],
				listed: s.room.listed[h.Author], size: size(s.room.authors[h.Author])})
		}
		if last := &all[len(all)-1]; h.accepted.After(last.received) {
			last.received = h.accepted
		}
	}
	return all
}

// goesBefore reports whether an author is evicted before another of the same rank. Unlisted authors
// come before listed ones, then unmet before met ones, then the author whose latest share is older.
func (c candidate) goesBefore(other candidate) bool {
	switch {
	case c.listed != other.listed:
		return other.listed
	case c.met != other.met:
		return other.met
	}
	return c.received.Before(other.received) || c.received.Equal(other.received) && c.author < other.author
}

// The two units in which evict measures shares: authors and bytes.
func inAuthors(int) int     { return 1 }
func inBytes(bytes int) int { return bytes }

// evict selects authors to forget until `over` units of size are free. The newcomer is the author
// whose shares are about to grow by `grows` units. If not enough authors may be evicted, ok is false
// and gone is nil.
//
// First the largest group loses authors, in the order of goesBefore, as long as it is larger than the
// newcomer's group after its growth. The agent itself and listed authors belong to no group: for them
// any largest group is larger. Next come unlisted authors of other groups:
//
//   - any author that was never met and has been silent for protectedTime;
//   - if the newcomer was met: an author that was never met or has been silent for protectedTime, in
//     the newcomer's own group or in a group that is no smaller.
//
// With force, any author except the newcomer may be evicted, listed ones last.
func (s *shares) evict(now time.Time, newcomer peer.ID, by Source, size func(bytes int) int, grows, over int, force bool) (gone []peer.ID, ok bool) {
	all := s.candidates(size)
	held := map[string]int{}
	for _, c := range all {
		if !c.listed {
			held[c.group] += c.size
		}
	}
	own := s.groupOf(newcomer, by)
	has, met := held[own]+grows, s.met[newcomer]
	if !s.counts(newcomer) {
		own, has = "", 0 // the newcomer belongs to no group
	}
	silent := now.Add(-protectedTime)
	for over > 0 {
		most := has
		for _, sum := range held {
			most = max(most, sum)
		}
		next, rank := 0, 0
		for i, c := range all {
			sum, why := held[c.group], 0
			switch {
			case c.leave || c.author == newcomer:
			case !c.listed && most > has && sum == most:
				why = 3
			case !c.listed && !c.met && c.received.Before(silent):
				why = 2
			case !c.listed && met && (c.group == own || sum >= has) && (!c.met || c.received.Before(silent)):
				why = 2
			case force:
				why = 1
			}
			if why > rank || why > 0 && why == rank && c.goesBefore(all[next]) {
				next, rank = i, why
			}
		}
		if rank == 0 {
			return nil, false
		}
		all[next].leave = true
		if !all[next].listed {
			held[all[next].group] -= all[next].size
		}
		over -= all[next].size
		gone = append(gone, all[next].author)
	}
	return gone, true
}

// forget removes all shares of the given authors.
func (s *shares) forget(authors []peer.ID) {
	for _, author := range authors {
		for len(s.of(author)) > 0 {
			s.remove(s.of(author)[0].Key)
		}
	}
}
