package fair

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// entry is a signed evaluation.
type entry struct {
	protocol.Evaluation
	payload  []byte // the encoded evaluation, which the envelope contains and signs
	envelope []byte
	head     head // hash of the chain of the author's evaluations up to this one
}

// isGain reports whether the result is part of its party's gain: the evaluation neither failed nor
// was imported.
func (e entry) isGain() bool { return e.Value != nil && !e.Imported }

// head is the hash of a chain of one party's evaluations. It depends on all evaluations of the
// chain.
type head [protocol.HeadBytes]byte

func (h head) then(payload []byte) head {
	sum := sha256.Sum256(append(slices.Clone(h[:]), payload...))
	return head(sum[:protocol.HeadBytes])
}

// book holds the evaluations of all parties, each party's in order of number.
type book struct {
	roster  []peer.ID
	entries [][]entry // by party
}

func newBook(roster []peer.ID) *book {
	return &book{roster: roster, entries: make([][]entry, len(roster))}
}

// verdict is the result of adding an evaluation.
type verdict int

const (
	added         verdict = iota
	known                 // the book already contained it
	ahead                 // an earlier evaluation of its author is missing
	contradicting         // its author has signed another one with this number; the new one replaces it
	contradicted          // its author has signed another one with this number, which remains in the book
)

// add adds an evaluation. If two evaluations of a party have the same number, the one with the
// smaller hash is used, so that all nodes that have both agree.
func (b *book) add(party int, e entry) verdict {
	list := b.entries[party]
	switch {
	case e.Number > len(list)+1:
		return ahead
	case e.Number == len(list)+1:
		e.head = b.headOf(party, len(list)).then(e.payload)
		b.entries[party] = append(list, e)
		return added
	}
	old := list[e.Number-1]
	if bytes.Equal(old.payload, e.payload) {
		return known
	}
	one, other := sha256.Sum256(old.payload), sha256.Sum256(e.payload)
	if bytes.Compare(one[:], other[:]) < 0 {
		return contradicted
	}
	list = slices.Clone(list)
	list[e.Number-1] = e
	for i := e.Number - 1; i < len(list); i++ {
		before := head{}
		if i > 0 {
			before = list[i-1].head
		}
		list[i].head = before.then(list[i].payload)
	}
	b.entries[party] = list
	return contradicting
}

// counts returns the number of evaluations of each party.
func (b *book) counts() []int {
	counts := make([]int, len(b.entries))
	for i, list := range b.entries {
		counts[i] = len(list)
	}
	return counts
}

func (b *book) headOf(party, count int) head {
	if count == 0 {
		return head{}
	}
	return b.entries[party][count-1].head
}

// heads returns the concatenated heads of the parties' chains up to these counts. The book must
// contain all of these evaluations.
func (b *book) heads(counts []int) []byte {
	var all []byte
	for party, count := range counts {
		h := b.headOf(party, count)
		all = append(all, h[:]...)
	}
	return all
}

// differing returns a party whose chain, up to its count, has another head than the one given, or
// -1 if there is none. The book must contain all of these evaluations.
func (b *book) differing(counts []int, heads []byte) int {
	for party, count := range counts {
		h := b.headOf(party, count)
		if !bytes.Equal(h[:], heads[party*protocol.HeadBytes:(party+1)*protocol.HeadBytes]) {
			return party
		}
	}
	return -1
}

// has reports whether the book contains at least this many evaluations of each party.
func (b *book) has(counts []int) bool {
	for party, count := range counts {
		if len(b.entries[party]) < count {
			return false
		}
	}
	return true
}

// upTo returns a book with only the first evaluations of each party, as many as counts. It shares
// memory with b, so callers must not change its entries.
func (b *book) upTo(counts []int) *book {
	first := newBook(b.roster)
	for party, count := range counts {
		first.entries[party] = slices.Clip(b.entries[party][:count])
	}
	return first
}

// reported reports whether a party's evaluation of a round has ended. It returns true for round 0,
// which stands for no round.
func (b *book) reported(party, round int) bool {
	return round == 0 || slices.ContainsFunc(b.entries[party], func(e entry) bool { return e.Round == round })
}

// latest returns the newest round of which a party's evaluation has ended, or 0 if there is none.
func (b *book) latest(party int) int {
	newest := 0
	for _, e := range b.entries[party] {
		newest = max(newest, e.Round)
	}
	return newest
}

// assigned returns the number of evaluations of assigned designs.
func (b *book) assigned() (count int) {
	for _, list := range b.entries {
		for _, e := range list {
			if e.Round > 0 {
				count++
			}
		}
	}
	return count
}

// started reports whether at least `initial` evaluations of a party, its starting designs, have
// ended and one of them has a value.
func (b *book) started(party, initial int) bool {
	list := b.entries[party]
	return len(list) >= initial && slices.ContainsFunc(list, func(e entry) bool { return e.Value != nil })
}

// lacking returns the envelopes of the evaluations that a party with these counts lacks, oldest
// first. Their total size is at most `most` bytes.
func (b *book) lacking(counts []int, most int) (envelopes [][]byte) {
	for party, list := range b.entries {
		for _, e := range list[min(counts[party], len(list)):] {
			if most -= len(e.envelope); most < 0 {
				return envelopes
			}
			envelopes = append(envelopes, e.envelope)
		}
	}
	return envelopes
}
