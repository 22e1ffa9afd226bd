package agent

import (
	"fmt"
	"math"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// sum is what room should say.
func (s *hearsay) sum() (all int, authors map[peer.ID]int) {
	authors = map[peer.ID]int{}
	for _, h := range s.order {
		authors[h.Author] += len(h.Envelope)
		if s.counts(h.Author) {
			all += len(h.Envelope)
		}
	}
	return all, authors
}

func (s *hearsay) checkBytes(t *testing.T) {
	t.Helper()
	all, authors := s.sum()
	if all != s.room.all || all > maxShareBytes {
		t.Errorf("%d bytes are held, the account says %d, the bound is %d", all, s.room.all, maxShareBytes)
	}
	for author, bytes := range authors {
		if bytes != s.room.authors[author] || bytes > maxAuthorBytes && author != s.self {
			t.Errorf("%d bytes of %s are held, the account says %d", bytes, author, s.room.authors[author])
		}
	}
	if len(authors) < len(s.room.authors) {
		t.Errorf("there are accounts of %d authors, and %d are held", len(s.room.authors), len(authors))
	}
}

// Of one author the newest shares within its bytes are held, whatever kinds they are of.
func TestBytesOfAnAuthorAreBounded(t *testing.T) {
	s := newHearsay("listed")
	for _, author := range []peer.ID{"author", "listed"} {
		for i := range 12 {
			share := protocol.Share{Key: protocol.Key{Author: author, Kind: fmt.Sprint("kind ", i)},
				Stamp: protocol.Stamp{Epoch: 1, Sequence: uint64(i + 1)}, TTL: protocol.MaxTTL, Envelope: make([]byte, 200<<10)}
			if result, err := s.judge(s.now, share, Source{}); result != Accepted {
				t.Fatal(result, err)
			}
			s.now = s.now.Add(1)
			s.put(strategy.Share{Share: share}, s.now, 0, Source{})
			s.checkBytes(t)
		}
		held := s.of(author)
		if len(held) != maxAuthorBytes/(200<<10) {
			t.Errorf("%d shares of %s are held", len(held), author)
		}
		for _, h := range held {
			if h.Sequence <= uint64(12-len(held)) {
				t.Errorf("%v is held, and a newer one is not", h.Key)
			}
		}
	}
}

// A flood of new identities is held within the bytes of a task and evicts nobody that was
// met, nor what somebody else tells of; nothing of listed authors counts.
func TestFloodOfBytesEvictsNobodyElse(t *testing.T) {
	s := newHearsay("listed 0", "listed 1")
	const size = 128 << 10
	for i := range 2 {
		if !s.tell(fmt.Sprint("listed ", i), Source{}, size) {
			t.Fatal("a listed author is refused")
		}
	}
	for i := range 20 {
		name := fmt.Sprint("met ", i)
		s.join(name, "198.51.100.9/32")
		s.tell(name, Source{}, size)
	}
	s.tell("referred", Source{Group: "192.0.2.1/32"}, size)
	for i := range 200 {
		s.tell(fmt.Sprint("made up ", i), Source{Group: "203.0.113.7/32"}, size)
	}
	s.checkBytes(t)
	if !s.has("listed 0") || !s.has("listed 1") || !s.has("referred") || s.group("198.51.100.9/32") != 20 {
		t.Errorf("of 20 that were met %d are held; the listed: %v, %v", s.group("198.51.100.9/32"), s.has("listed 0"), s.has("listed 1"))
	}
	if want := maxShareBytes/size - 21; s.group("203.0.113.7/32") != want {
		t.Errorf("%d made-up authors are held, there is room for %d", s.group("203.0.113.7/32"), want)
	}
	// Who comes late finds room all the same.
	if !s.tell("late", Source{Group: "192.0.2.2/32"}, size) || !s.has("late") {
		t.Error("a late author is refused")
	}
	// Listed authors alone may exceed the bound of all others.
	many := newHearsay()
	for i := range 2 * maxShareBytes / size {
		id := peer.ID(fmt.Sprint("listed ", i))
		many.room.listed[id] = true
		if !many.tell(string(id), Source{}, size) {
			t.Fatalf("listed author %d is refused", i)
		}
	}
	if many.room.all != 0 || many.authors() != 2*maxShareBytes/size {
		t.Errorf("%d bytes count, %d listed authors are held", many.room.all, many.authors())
	}
}

// Many made-up shares of a task with 4,096 features, as one peer once sent: a gigabyte in
// memory without a bound.
func TestFloodOfLargeSharesIsBounded(t *testing.T) {
	s := newHearsay()
	const envelope = 4*4096 + 200
	taken := 0
	for i := range 1101 {
		if s.tell(fmt.Sprint("made up ", i), Source{Group: "203.0.113.7/32"}, envelope) {
			taken++
		}
	}
	s.checkBytes(t)
	if taken != maxShareBytes/envelope {
		t.Errorf("%d shares were taken, there is room for %d", taken, maxShareBytes/envelope)
	}
}

// What an agent gives up is off its account at once.
func TestAccountOfBytesFollowsWhatIsHeld(t *testing.T) {
	s := newHearsay()
	for i := range 5 {
		s.tell("author", Source{}, 1000+i) // each in the place of the one before
	}
	s.checkBytes(t)
	s.forget([]peer.ID{"author", "nobody"})
	s.checkBytes(t)
	if len(s.room.authors) != 0 || s.room.all != 0 {
		t.Errorf("%d bytes are on the account of nothing", s.room.all)
	}
}

// A smaller capacity bounds bytes, those of an author, and authors, for shares that arrive and for
// those that are stored already. Listed authors keep their places.
func TestSmallCapacity(t *testing.T) {
	const bytes, envelope = 64 << 10, 4096
	small := func(s *hearsay) {
		t.Helper()
		all, authors := s.sum()
		if all != s.room.all || all > bytes {
			t.Errorf("%d bytes are stored, %d are counted, expected at most %d", all, s.room.all, bytes)
		}
		for author, stored := range authors {
			if stored > bytes && !s.room.listed[author] {
				t.Errorf("%d bytes of %s are stored, expected at most %d", stored, author, bytes)
			}
		}
		if got, most := s.authors(), bytes/authorBytes+len(s.room.listed); got > most {
			t.Errorf("%d authors are stored, expected at most %d", got, most)
		}
		if !s.has("listed 0") || !s.has("listed 39") {
			t.Error("a listed author has no place")
		}
	}
	fill := func(s *hearsay, size int) (taken int) {
		for i := range 200 {
			if s.tell(fmt.Sprint("author ", i), Source{Group: "203.0.113.7/32"}, size) {
				taken++
			}
		}
		return taken
	}
	for _, size := range []int{100, envelope} {
		for name, before := range map[string]bool{"before": true, "after": false} {
			t.Run(fmt.Sprint(size, " bytes, ", name), func(t *testing.T) {
				var listed []peer.ID
				for i := range 40 {
					listed = append(listed, peer.ID(fmt.Sprint("listed ", i)))
				}
				s := newHearsay(listed...)
				for _, id := range listed {
					s.tell(string(id), Source{}, size)
				}
				if before {
					s.setCapacity(s.now, Capacity{Bytes: bytes})
				}
				taken := fill(s, size)
				if !before {
					if taken != 200 {
						t.Fatalf("%d authors were accepted without a limit", taken)
					}
					s.setCapacity(s.now, Capacity{Bytes: bytes})
				} else if most := max(bytes/size, 1); taken == 0 || taken > most {
					t.Errorf("%d shares of %d bytes were accepted, expected up to %d", taken, size, most)
				}
				small(s)
				if s.tell("large", Source{Group: "198.51.100.9/32"}, bytes+1) || s.has("large") {
					t.Error("a share above the limit of all is stored")
				}
				small(s)
				s.setCapacity(s.now, Capacity{})
				if fill(s, size); s.authors() != 240 {
					t.Errorf("%d authors after the limit was raised, expected 240", s.authors())
				}
			})
		}
	}
}

// The zero capacity has the documented limits.
func TestDefaultCapacity(t *testing.T) {
	for _, c := range []Capacity{{}, {Bytes: maxShareBytes}, {Bytes: math.MaxInt}} {
		r := byteBudget{Capacity: c}
		if c.bytes() != maxShareBytes || c.ofAuthor() != maxAuthorBytes || r.maxAuthors() != maxAuthors {
			t.Errorf("%+v: %d bytes, %d of an author, %d authors", c, c.bytes(), c.ofAuthor(), r.maxAuthors())
		}
	}
}
