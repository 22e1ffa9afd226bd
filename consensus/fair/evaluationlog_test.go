package fair

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
)

// statement is an evaluation that a party has signed; version tells those of one number
// from each other.
type statement struct{ party, number, version int }

func (s statement) entry() entry {
	payload := fmt.Appendf(nil, "%d/%d/%d", s.party, s.number, s.version)
	return entry{
		Evaluation: protocol.Evaluation{Number: s.number, Round: s.number / 2},
		payload:    payload,
		envelope:   append([]byte("signed "), payload...),
	}
}

func (s statement) hash() [32]byte { return sha256.Sum256(s.entry().payload) }

func bookOf(parties int) *book { return newBook(make([]peer.ID, parties)) }

// hearAll adds statements until nothing changes: those that come before an earlier one are
// told again, as authors do.
func hearAll(b *book, received []statement) {
	for again := true; again; {
		again = false
		for _, s := range received {
			if b.add(s.party, s.entry()) == added {
				again = true
			}
		}
	}
}

func sameEntries(a, b *book) bool {
	return slices.EqualFunc(a.entries, b.entries, func(x, y []entry) bool {
		return slices.EqualFunc(x, y, func(x, y entry) bool {
			return bytes.Equal(x.payload, y.payload) && bytes.Equal(x.envelope, y.envelope) && x.head == y.head
		})
	})
}

// Whoever has heard the same, in any order and however often, holds the same, whatever
// their authors have signed; of several results the one of smallest hash.
func TestBooksDoNotDependOnTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parties := rapid.IntRange(1, 4).Draw(t, "parties")
		var said []statement
		want := bookOf(parties)
		for party := range parties {
			for number := range rapid.IntRange(0, 6).Draw(t, "count") {
				var all []statement
				for version := range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "versions") {
					all = append(all, statement{party, number + 1, version})
				}
				said = append(said, all...)
				slices.SortFunc(all, func(a, b statement) int {
					x, y := a.hash(), b.hash()
					return bytes.Compare(x[:], y[:])
				})
				want.add(party, all[0].entry())
			}
		}
		got := bookOf(parties)
		order := rapid.Permutation(said).Draw(t, "order")
		order = append(order, rapid.Permutation(said).Draw(t, "repeated")[:len(said)/2]...)
		hearAll(got, order)
		if !sameEntries(got, want) {
			t.Fatalf("%v gives %v, want %v", order, got, want)
		}
		if counts := want.counts(); !bytes.Equal(got.heads(counts), want.heads(counts)) || got.differing(counts, want.heads(counts)) != -1 {
			t.Fatalf("%v gives other heads", order)
		}
	})
}

// The verdict says what became of it, and what was handed out before never changes.
func TestVerdictsOfABook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := bookOf(2)
		held := map[[2]int]statement{}
		var firsts []*book
		var copies [][]byte
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			s := statement{rapid.IntRange(0, 1).Draw(t, "party"), rapid.IntRange(1, 5).Draw(t, "number"), rapid.IntRange(0, 2).Draw(t, "version")}
			at := [2]int{s.party, s.number}
			count := len(b.entries[s.party])
			want := added
			if old, ok := held[at]; ok {
				mine, other := s.hash(), old.hash()
				switch bytes.Compare(mine[:], other[:]) {
				case 0:
					want = known
				case 1:
					want = contradicted
				case -1:
					want = contradicting
				}
			} else if s.number > count+1 {
				want = ahead
			}
			if got := b.add(s.party, s.entry()); got != want {
				t.Fatalf("%v after %v: verdict %v, want %v", s, held, got, want)
			}
			if want == added || want == contradicting {
				held[at] = s
			}
			counts := b.counts()
			if grown := counts[s.party] - count; (grown == 1) != (want == added) || grown < 0 {
				t.Fatalf("%v: %d more", s, grown)
			}
			first := b.upTo(counts)
			firsts, copies = append(firsts, first), append(copies, b.heads(counts))
			for party, list := range b.entries {
				before := head{}
				for i, e := range list {
					if before = before.then(e.payload); e.head != before || e.Number != i+1 {
						t.Fatalf("entry %d of party %d has number %d and head %x", i, party, e.Number, e.head)
					}
				}
			}
		}
		for i, first := range firsts {
			if !bytes.Equal(first.heads(first.counts()), copies[i]) {
				t.Fatalf("book %d of %d has changed since", i, len(firsts))
			}
		}
	})
}

// Heads differ wherever one of the evaluations does, and the party is found.
func TestHeadsTellWhoDiffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, other := bookOf(3), bookOf(3)
		for party := range 3 {
			for number := range 4 {
				one.add(party, statement{party, number + 1, 0}.entry())
				other.add(party, statement{party, number + 1, 0}.entry())
			}
		}
		party, number := rapid.IntRange(0, 2).Draw(t, "party"), rapid.IntRange(1, 4).Draw(t, "number")
		changed := slices.Clone(other.entries[party])
		other.entries[party] = changed[:number-1]
		other.add(party, statement{party, number, 1}.entry())
		for _, e := range changed[number:] {
			other.add(party, e)
		}
		counts := rapid.SliceOfN(rapid.IntRange(0, 4), 3, 3).Draw(t, "counts")
		want := -1
		if counts[party] >= number {
			want = party
		}
		if got := one.differing(counts, other.heads(counts)); got != want {
			t.Fatalf("evaluation %d of party %d differs; of the first %v it is said of %d", number, party, counts, got)
		}
	})
}

// Somebody who takes what it lacks, part after part, has everything in the end, and no
// part is larger than it may be.
func TestLackingIsAllThatIsLacking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := bookOf(3)
		byEnvelope := map[string]statement{}
		for party := range 3 {
			for number := range rapid.IntRange(0, 12).Draw(t, "held") {
				s := statement{party, number + 1, 0}
				b.add(party, s.entry())
				byEnvelope[string(s.entry().envelope)] = s
			}
		}
		counts := rapid.SliceOfN(rapid.IntRange(0, 20), 3, 3).Draw(t, "counts") // some beyond what there is
		most := rapid.IntRange(13, 200).Draw(t, "most")
		got := bookOf(3)
		for party := range 3 {
			for number := range min(counts[party], len(b.entries[party])) {
				got.add(party, statement{party, number + 1, 0}.entry())
			}
		}
		for range 40 {
			part := b.lacking(got.counts(), most)
			bytes := 0
			for _, envelope := range part {
				bytes += len(envelope)
				s := byEnvelope[string(envelope)]
				if verdict := got.add(s.party, s.entry()); verdict != added {
					t.Fatalf("%v is told, which is %v", s, verdict)
				}
			}
			if bytes > most {
				t.Fatalf("%d bytes at once, the limit is %d", bytes, most)
			}
		}
		if !sameEntries(got, b) {
			t.Fatalf("holds %v in the end, want %v", got.counts(), b.counts())
		}
		if !got.has(b.counts()) || len(b.lacking(b.counts(), most)) > 0 {
			t.Fatal("something is still lacking")
		}
	})
}

func TestWhatABookHas(t *testing.T) {
	b := bookOf(2)
	value := 1.0
	add := func(number, round int, value *float64) {
		b.add(0, entry{Evaluation: protocol.Evaluation{Number: number, Round: round, Value: value}, payload: []byte{byte(number)}})
	}
	add(1, 0, nil)
	add(2, 0, nil)
	if b.started(0, 2) {
		t.Error("a party without a result has started")
	}
	add(3, 4, &value)
	add(4, 2, nil) // one that was late
	for _, c := range []struct {
		name string
		got  any
		want any
	}{
		{"started with 2", b.started(0, 2), true},
		{"started with 4", b.started(0, 4), true},
		{"started with 5", b.started(0, 5), false},
		{"nobody's start", b.started(1, 0), false},
		{"latest", b.latest(0), 4},
		{"latest of nobody", b.latest(1), 0},
		{"reported round 4", b.reported(0, 4), true},
		{"reported round 3, of which there is none", b.reported(0, 3), false},
		{"reported round 5", b.reported(0, 5), false},
		{"reported no round", b.reported(1, 0), true},
		{"has", b.has([]int{4, 0}), true},
		{"has more", b.has([]int{4, 1}), false},
		{"has the most", b.has([]int{1 << 24, 1 << 24}), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}
