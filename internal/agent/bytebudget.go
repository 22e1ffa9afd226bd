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
)

// byteBudget counts the bytes of stored shares.
type byteBudget struct {
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
	over := s.room.all + grows - maxShareBytes
	if !s.counts(share.Author) || over <= 0 {
		return true
	}
	_, ok := s.evict(now, share.Author, by, inBytes, grows, over, false)
	return ok
}

// boundBytes removes shares until the rest is within the limits. First it removes the oldest shares
// of the new share's author, but not the new share, and then shares of other authors.
func (s *shares) boundBytes(share *held, now time.Time) {
	for share.Author != s.self && s.room.authors[share.Author] > maxAuthorBytes {
		var oldest *held
		for _, h := range s.of(share.Author) {
			if h != share && (oldest == nil || h.accepted.Before(oldest.accepted)) {
				oldest = h
			}
		}
		if oldest == nil {
			break // cannot happen: an envelope is smaller than the limit
		}
		s.remove(oldest.Key)
	}
	if over := s.room.all - maxShareBytes; over > 0 && s.counts(share.Author) {
		gone, _ := s.evict(now, share.Author, Source{}, inBytes, 0, over, true)
		s.forget(gone)
	}
}
