package agent

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Limits on peers' stored shares, in bytes of their envelopes. In memory a share takes about seven
// times as much: its envelope, its payload, the decoded numbers, and numbers that a strategy
// computes from them.
const (
	maxAuthorBytes = 1 << 20
	maxShareBytes  = 8 << 20 // shares of all authors that are not listed

	authorBytes = 2 << 10 // bytes of a Capacity for each author
	minAuthors  = 16
)

// Capacity limits what an agent stores of authors that are not listed. The zero value has the
// largest limits. All limits follow from one number, so that a node with little memory sets one.
type Capacity struct {
	// Bytes limits the envelopes of all such authors, and of one. In memory a share takes about
	// seven times as much. A larger value than the default, 8 MiB, has no effect.
	Bytes int
}

func (c Capacity) bytes() int {
	if c.Bytes <= 0 {
		return maxShareBytes
	}
	return min(c.Bytes, maxShareBytes)
}

func (c Capacity) ofAuthor() int { return min(c.bytes(), maxAuthorBytes) }

// maxAuthors returns the number of authors whose shares an agent stores. Listed ones are beside a
// lower limit than the default.
func (r byteBudget) maxAuthors() int {
	return min(max(r.bytes()/authorBytes, minAuthors)+len(r.listed), maxAuthors)
}

// SetCapacity replaces the limits on stored shares. If they are lower than before, the agent drops
// shares as if a new one needed room.
func (a *Agent) SetCapacity(now time.Time, c Capacity) {
	a.shares.setCapacity(now, c)
	a.pump(now)
}

// Capacity returns the limits of Config.Capacity or the last SetCapacity.
func (a *Agent) Capacity() Capacity { return a.shares.room.Capacity }

func (s *shares) setCapacity(now time.Time, c Capacity) {
	s.room.Capacity = c
	for author, bytes := range s.room.authors {
		if bytes > c.ofAuthor() && s.counts(author) {
			s.boundAuthor(author, nil)
		}
	}
	if over := s.room.all - c.bytes(); over > 0 {
		gone, _ := s.evict(now, "", Source{}, inBytes, 0, over, true)
		s.forget(gone)
	}
	if over := s.authors() - s.room.maxAuthors(); over > 0 {
		gone, _ := s.evict(now, "", Source{}, inAuthors, 0, over, true)
		s.forget(gone)
	}
}

// byteBudget counts the bytes of stored shares.
type byteBudget struct {
	Capacity
	listed  map[peer.ID]bool // authors with guaranteed room up to maxAuthorBytes
	authors map[peer.ID]int  // bytes of each author
	all     int              // bytes of all authors that are neither listed nor the agent itself
}

func newByteBudget(listed []peer.ID) byteBudget {
	r := byteBudget{listed: map[peer.ID]bool{}, authors: map[peer.ID]int{}}
	for _, id := range listed {
		r.listed[id] = true
	}
	return r
}

func (s *shares) counts(author peer.ID) bool { return author != s.self && !s.room.listed[author] }

// add adds a number of bytes, which may be negative, to those stored for an author.
func (s *shares) add(author peer.ID, bytes int) {
	if s.room.authors[author] += bytes; s.room.authors[author] == 0 {
		delete(s.room.authors, author)
	}
	if s.counts(author) {
		s.room.all += bytes
	}
}

// grows returns the number of bytes by which a share would increase those stored for its author.
// The bytes of shares that it replaces are subtracted.
func (s *shares) grows(share protocol.Share) int {
	grows := len(share.Envelope)
	for _, other := range s.of(share.Author) {
		if other.Key == share.Key || other.Kind == share.Kind && other.Epoch < share.Epoch {
			grows -= len(other.Envelope)
		}
	}
	return grows
}

// fits reports whether the budget has room for a share, possibly after the eviction of other
// authors.
func (s *shares) fits(now time.Time, share protocol.Share, by Source) bool {
	grows := s.grows(share)
	over := s.room.all + grows - s.room.bytes()
	if !s.counts(share.Author) || over <= 0 {
		return true
	}
	if len(share.Envelope) > s.room.bytes() {
		return false
	}
	_, ok := s.evict(now, share.Author, by, inBytes, grows, over, false)
	return ok
}

// boundBytes removes shares until the rest is within the limits. First it removes the oldest shares
// of the new share's author, but not the new share, and then shares of other authors.
func (s *shares) boundBytes(share *held, now time.Time) {
	if share.Author != s.self {
		s.boundAuthor(share.Author, share)
	}
	if over := s.room.all - s.room.bytes(); over > 0 && s.counts(share.Author) {
		gone, _ := s.evict(now, share.Author, Source{}, inBytes, 0, over, true)
		s.forget(gone)
	}
}

// boundAuthor removes the oldest shares of an author, but not the new one, until the rest is within
// the limit of an author. Listed authors have the largest limit.
func (s *shares) boundAuthor(author peer.ID, share *held) {
	limit := maxAuthorBytes
	if s.counts(author) {
		limit = s.room.ofAuthor()
	}
	for s.room.authors[author] > limit {
		var oldest *held
		for _, h := range s.of(author) {
			if h != share && (oldest == nil || h.accepted.Before(oldest.accepted)) {
				oldest = h
			}
		}
		if oldest == nil {
			break // cannot happen: fits refuses an envelope above the limit
		}
		s.remove(oldest.Key)
	}
}
