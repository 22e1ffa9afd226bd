package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/largetopic"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// hearsay is a set of shares to which things are told at times.
type hearsay struct {
	shares
	now      time.Time
	sequence uint64
}

func newHearsay(listed ...peer.ID) *hearsay {
	s := &hearsay{shares: newShares("self", listed...), now: epochStart}
	s.met = map[peer.ID]bool{}
	return s
}

// tell says something of so many bytes of an author; it returns whether that was taken.
func (s *hearsay) tell(author string, by Source, bytes int) bool {
	s.now = s.now.Add(time.Millisecond)
	s.sequence++
	news := protocol.Share{Key: protocol.Key{Author: peer.ID(author), Kind: "weights"}, Stamp: protocol.Stamp{Epoch: 1, Sequence: s.sequence},
		TTL: 7 * 24 * time.Hour, Envelope: make([]byte, bytes)}
	result, _ := s.judge(s.now, news, by)
	if result == Accepted {
		s.put(strategy.Share{Share: news}, s.now, 0, by)
	}
	return result == Accepted
}

func (s *hearsay) has(author string) bool { return len(s.of(peer.ID(author))) > 0 }

func (s *hearsay) group(name string) (count int) {
	_, sizes, groups := s.places(inAuthors)
	if i, ok := groups[name]; ok {
		count = sizes[i]
	}
	return count
}

func (s *hearsay) join(author, group string) {
	s.met[peer.ID(author)] = true
	s.noteContact(peer.ID(author), group)
}

// One connection fills all places with authors that it makes up. Everybody else is taken at
// once, also what others tell of, and what it makes up later displaces nobody.
func TestOneIntroducerKeepsNobodyOut(t *testing.T) {
	s := newHearsay()
	attacker, honest := Source{Group: "203.0.113.7/32"}, Source{Group: "198.51.100.9/32"}
	madeUp := func(count int) {
		for i := range count {
			s.tell(fmt.Sprintf("made up %04d", i), attacker, 10)
		}
	}
	madeUp(maxAuthors + 76)
	if s.authors() != maxAuthors {
		t.Fatalf("%d places are taken", s.authors())
	}
	for i := range 97 {
		if !s.tell(fmt.Sprint("honest ", i), honest, 10) {
			t.Fatalf("honest author %d has no place", i)
		}
	}
	s.join("met", "192.0.2.1/32")
	if !s.tell("met", Source{Group: "192.0.2.1/32"}, 10) {
		t.Error("one that was met has no place")
	}
	madeUp(2 * maxAuthors)
	if got := s.group("198.51.100.9/32"); got != 97 || !s.has("met") || s.authors() != maxAuthors {
		t.Errorf("%d of 97 honest authors are left", got)
	}
}

// To connect costs little as well: those who were met from one address take no place of
// those whom another tells of, but for those of their own.
func TestConnectionsFromOneAddressKeepNobodyOut(t *testing.T) {
	s := newHearsay()
	honest := Source{Group: "198.51.100.9/32"}
	for i := range 300 {
		s.tell(fmt.Sprint("honest ", i), honest, 10)
	}
	for i := range 2 * maxAuthors {
		name := fmt.Sprint("made up ", i)
		s.join(name, "203.0.113.7/32")
		s.tell(name, Source{Group: "203.0.113.7/32"}, 10)
	}
	if got := s.group("198.51.100.9/32"); got != 300 {
		t.Errorf("%d of 300 honest authors are left", got)
	}
	for i := range 100 {
		if !s.tell(fmt.Sprint("late ", i), honest, 10) {
			t.Fatalf("late author %d has no place", i)
		}
	}
	// For long silent ones of other groups that were met the same holds: a keeper's authors.
	s = newHearsay()
	for i := range maxAuthors {
		name := fmt.Sprint("kept ", i)
		s.join(name, fmt.Sprint("group ", i/4))
		s.tell(name, Source{}, 10)
	}
	s.now = s.now.Add(24 * time.Hour)
	for i := range maxAuthors {
		name := fmt.Sprint("made up ", i)
		s.join(name, "203.0.113.7/32")
		s.tell(name, Source{}, 10)
	}
	if got := s.group("203.0.113.7/32"); got > 4 {
		t.Errorf("%d made-up authors have taken places of those that were met", got)
	}
}

// A fleet behind one address, or told of by one keeper, has all places while nobody else
// wants them.
func TestAFleetBehindOneAddressHasRoom(t *testing.T) {
	s := newHearsay()
	for i := range maxAuthors {
		name := fmt.Sprint("node ", i)
		s.join(name, "192.0.2.1/32")
		if !s.tell(name, Source{}, 10) || !s.relays(peer.ID(name)) {
			t.Fatalf("node %d of a fleet has no place", i)
		}
	}
	if s.tell("one more", Source{Group: "192.0.2.1/32"}, 10) {
		t.Error("an author of the same group displaces one that is heard")
	}
	if !newHearsay("listed").fillAnd(t, "listed") {
		t.Error("a listed author has no place")
	}
}

// fillAnd takes all places with those that were met, each from elsewhere, and tells of one more.
func (s *hearsay) fillAnd(t *testing.T, author string) bool {
	t.Helper()
	for i := range maxAuthors {
		name := fmt.Sprint("node ", i)
		s.join(name, name)
		s.tell(name, Source{}, 10)
	}
	return s.tell(author, Source{}, 10) && s.has(author) && s.authors() == maxAuthors
}

// Of authors whom nobody has met only a few are passed on once there are many, unless the
// user knows who tells of them: peers of a peer that makes them up have room left.
func TestFewMadeUpAuthorsArePassedOn(t *testing.T) {
	s := newHearsay()
	passed := func(prefix string, count int) (passed int) {
		for i := range count {
			if s.relays(peer.ID(fmt.Sprint(prefix, i))) {
				passed++
			}
		}
		return passed
	}
	attacker, keeper := Source{Group: "203.0.113.7/32"}, Source{Group: "192.0.2.9/32", Named: true}
	for i := range maxAuthors {
		s.tell(fmt.Sprint("made up ", i), attacker, 10)
	}
	if got := passed("made up ", maxAuthors); got > maxAuthors/2 {
		t.Errorf("%d made-up authors are passed on", got)
	}
	for i := range 200 {
		s.tell(fmt.Sprint("honest ", i), Source{Group: "198.51.100.9/32"}, 10)
		s.tell(fmt.Sprint("kept ", i), keeper, 10)
	}
	if honest, kept := passed("honest ", 200), passed("kept ", 200); honest != largetopic.MaxRelayed || kept != 200 {
		t.Errorf("of 200 each are passed on: %d, told by a stranger, and %d, by a named node", honest, kept)
	}
	s.join("honest 199", "198.51.100.77/32")
	items := s.since(nil, s.now, func(protocol.Share) bool { return false })
	if got := passed("honest ", 200); got != largetopic.MaxRelayed+1 || len(items) != got+200+passed("made up ", maxAuthors) {
		t.Errorf("%d are passed on after one more was met, %d by the sync stream", got, len(items))
	}
}

// Whatever is told by whomever: the bounds hold, who is listed or known stays known to
// somebody, and of what is not held nothing is remembered.
func TestPlacesAreBounded(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newHearsay("listed 1")
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			group := rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(r, "group")
			name := fmt.Sprint(rapid.SampledFrom([]string{"x", "y", "listed "}).Draw(r, "name"), rapid.IntRange(0, 9).Draw(r, "number"))
			switch rapid.IntRange(0, 5).Draw(r, "what") {
			case 0:
				s.join(name, group)
			case 1:
				s.now = s.now.Add(rapid.SampledFrom([]time.Duration{time.Minute, largetopic.ProtectedTime}).Draw(r, "pause"))
			default:
				size := rapid.SampledFrom([]int{1, maxAuthorBytes / 2, maxAuthorBytes}).Draw(r, "bytes")
				if s.tell(name, Source{Group: group}, size) != s.has(name) && !s.has(name) {
					r.Fatalf("%s was taken and is not held", name)
				}
			}
			if s.room.all > maxShareBytes {
				r.Fatalf("%d bytes are held", s.room.all)
			}
			for author := range s.origins {
				if len(s.of(author)) == 0 && !s.met[author] {
					r.Fatalf("of %s a place is remembered and nothing held", author)
				}
			}
			all, _, _ := s.places(inAuthors)
			for _, p := range all {
				if _, ok := s.origins[p.Author]; !ok {
					r.Fatalf("%s has no place", p.Author)
				}
			}
		}
	})
}
