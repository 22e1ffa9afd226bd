package agent

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Authors become known through peers, and identities cost nothing: one peer could fabricate as many
// as the agent has places. While there is room, every author gets a place. Otherwise the largest
// group of authors loses places to smaller groups. A group is the authors from one range of
// addresses, hub or introducer; these cost more than identities. A fixed number of places per group
// would exclude federations behind one address.

// Source describes the peer that sent a share or introduced its author. The zero value is an
// unknown peer.
type Source struct {
	Group string // an origin that costs more than an identity, such as a range of addresses; "": unknown
	Named bool   // the agent's user has named the peer and trusts it not to fabricate authors
}

const (
	// From crowded known authors on, the agent relays at most maxRelayedAuthors of each group that
	// it has not met itself, except those from a Named source. This leaves room at its peers if one
	// peer fabricates authors.
	crowded           = maxAuthors / 2
	maxRelayedAuthors = 64
)

// origin holds the group of an author's first source, or of its latest connection.
type origin struct {
	group  string
	relays bool // its shares are relayed
}

// Relays reports whether the agent relays an author's shares to other peers. It stores shares
// that it does not relay, too.
func (a *Agent) Relays(author peer.ID) bool { return a.shares.relays(author) }

func (s *shares) relays(author peer.ID) bool {
	return author == s.self || s.met[author] || s.room.listed[author] || s.origins[author].relays
}

// noteContact stores the group of the latest connection to an author, whose shares are relayed from
// now on.
func (s *shares) noteContact(author peer.ID, group string) {
	s.origins[author] = origin{group: group, relays: true}
}

// groupOf returns the group of an author; for an unknown author, the group that it would have.
func (s *shares) groupOf(author peer.ID, by Source) string {
	if p, ok := s.origins[author]; ok {
		return p.group
	}
	return by.Group
}

// placeAuthor gives an unknown author a place.
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
	s.origins[author] = origin{group: by.Group, relays: by.Named || len(s.origins) < crowded || passed < maxRelayedAuthors}
}

// authors returns the number of authors with held shares, without the agent itself.
func (s *shares) authors() (count int) {
	for i, h := range s.order {
		if h.Author != s.self && (i == 0 || h.Author != s.order[i-1].Author) {
			count++
		}
	}
	return count
}

// candidate is an author that evict may choose.
type candidate struct {
	author             peer.ID
	group              string
	received           time.Time // of the latest accepted share
	size               int
	met, listed, leave bool
}

// candidates returns all authors but the agent itself, each with the size of its held shares.
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

// goesBefore reports whether an author is evicted before another of the same rank. Listed authors
// are last, and authors that were met come just before them. Otherwise the author that was silent
// longest is first.
func (c candidate) goesBefore(other candidate) bool {
	switch {
	case c.listed != other.listed:
		return other.listed
	case c.met != other.met:
		return other.met
	}
	return c.received.Before(other.received) || c.received.Equal(other.received) && c.author < other.author
}

// Units of sizes.
func inAuthors(int) int     { return 1 }
func inBytes(bytes int) int { return bytes }

// evict selects authors to forget until `over` units of size are free, if the shares of newcomer
// grow by `grows` units. ok is false, and gone nil, if not enough authors may be evicted.
//
// The largest group loses its authors first, in the order of goesBefore, as long as it is larger
// than the newcomer's group with its growth. The shares of the agent itself and of listed authors
// compete with no group: for them, any largest group is larger. Next come unlisted authors of other
// groups:
//
//   - any author that was never met and was silent for protectedTime;
//   - if the newcomer was met: an author that was never met or was silent for protectedTime, in the
//     newcomer's own group or in one that is no smaller.
//
// With force, any author but the newcomer may be evicted, listed ones last.
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
		own, has = "", 0 // competes with no group
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

// forget drops all shares of authors.
func (s *shares) forget(authors []peer.ID) {
	for _, author := range authors {
		for len(s.of(author)) > 0 {
			s.remove(s.of(author)[0].Key)
		}
	}
}
