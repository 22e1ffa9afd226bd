package agent

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Authors are told of by peers, and names cost nothing: one peer could make up as many as
// there are places. While there is room everybody gets some. When there is none, the group of
// authors that has most loses some to those of smaller groups: groups are of those who came
// by one range of addresses, hub or introducer, which are not as cheap. A fixed number for
// each would shut out fleets behind one address.

// Source describes the peer from which an agent learns of an author. The zero value is an
// unknown peer.
type Source struct {
	Group string // what costs more than a name, such as a range of addresses; "": not known
	Named bool   // the agent's user trusts the introducer not to make authors up
}

const (
	// From so many authors on, of those whom nobody that the agent knows has met only so many
	// of a group are passed on: peers of a peer that makes authors up shall have room left.
	crowded           = maxAuthors / 2
	maxRelayedAuthors = 64
)

// origin holds how the agent learned of an author.
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

// noteContact records the latest group of an author that the agent has met.
func (s *shares) noteContact(author peer.ID, group string) {
	s.origins[author] = origin{group: group, relays: true}
}

// groupOf is the group of an author, or the one that it would have.
func (s *shares) groupOf(author peer.ID, by Source) string {
	if p, ok := s.origins[author]; ok {
		return p.group
	}
	return by.Group
}

// placeAuthor gives an author that is not known a place.
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

// authors counts those, other than the agent itself, of whom something is held.
func (s *shares) authors() (count int) {
	for i, h := range s.order {
		if h.Author != s.self && (i == 0 || h.Author != s.order[i-1].Author) {
			count++
		}
	}
	return count
}

// candidate is an author who may have to go.
type candidate struct {
	author             peer.ID
	group              string
	received           time.Time // last
	size               int
	met, listed, leave bool
}

// candidates are all authors but the agent itself, of the size of what is held of each.
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

// goesBefore tells whether an author gives up its place before another: those that are
// listed last, before them those that were met, and those first that were silent the longest.
func (c candidate) goesBefore(other candidate) bool {
	switch {
	case c.listed != other.listed:
		return other.listed
	case c.met != other.met:
		return other.met
	}
	return c.received.Before(other.received) || c.received.Equal(other.received) && c.author < other.author
}

// What room is counted in.
func inAuthors(int) int     { return 1 }
func inBytes(bytes int) int { return bytes }

// evict lists authors to forget so that over less is taken, of what size counts, when what
// is held of another grows; false when that may take nobody's place.
//
// The largest group loses first, of its authors that which goesBefore others, as long as it
// is larger than the newcomer's. In the newcomer's own group, and in those no smaller, an
// author that was met takes the place of one that never was, or was silent for long. One
// that never was and was silent for long gives its place to anybody. By force, somebody goes
// in any case.
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
		own, has = "", 0 // competes with nobody
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

// forget drops all that is held of authors.
func (s *shares) forget(authors []peer.ID) {
	for _, author := range authors {
		for len(s.of(author)) > 0 {
			s.remove(s.of(author)[0].Key)
		}
	}
}
