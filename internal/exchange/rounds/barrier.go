// Package rounds is for exchanges of agents in step: in each round everybody says one
// thing and waits for the others, at most until a deadline. Then what was said decides
// what follows, or one of them does: a leader that is always the same, or whoever has
// the turn to propose.
//
// A [Barrier] knows the round, whether its deadline has passed, and who has let the agent
// wait too often. [Turns] says who proposes. All else is for the exchange to say:
//
//   - who is expected to speak: those present, those in step, a roster;
//   - what is said, how it travels, and whether it is of the round;
//   - from when on the deadline runs, and how long: the exchange sets the timer, and calls
//     Expire when it fires;
//   - what it means that nobody is waited for any more, and what follows where some are
//     missing.
//
// Each agent waits by what it has heard itself. Two agents may miss others, blame others,
// and so wait for others in later rounds: what all must agree on may not rest on it.
//
// The package has no source of its own: the papers' algorithms in rounds assume that all
// speak. That silence costs an agent no more than 1 + log2 T deadlines in T rounds, from
// each name, is a choice of this project.
package rounds

import (
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Barrier waits, in each of the rounds that follow one another, until those who are
// expected have spoken, at most until a deadline. The zero value has no round yet. It is
// part of an exchange, and like it for one goroutine.
type Barrier struct {
	number int
	open   bool
	late   bool // the deadline has passed
	lapses absences
}

// Open begins a round, the deadline of which has not passed. Numbers are at least 1 and
// grow, perhaps by more than 1; otherwise it panics. A round that is still open is left,
// and nobody blamed.
func (b *Barrier) Open(number int) {
	if number <= b.number {
		panic(fmt.Sprintf("rounds: round %d opens after round %d; numbers must grow, from 1 on", number, b.number))
	}
	b.number, b.open, b.late = number, true, false
}

// Number is that of the latest round, 0 before the first.
func (b *Barrier) Number() int { return b.number }

// IsOpen tells whether the latest round has begun and not ended.
func (b *Barrier) IsOpen() bool { return b.open }

// Expire says that the deadline of the open round has passed. Without an open round it
// does nothing: a timer may be left over from one that has closed.
func (b *Barrier) Expire() { b.late = b.late || b.open }

// Late tells whether the deadline of the latest round has passed while it was open.
func (b *Barrier) Late() bool { return b.late }

// Waits tells for whom of the expected the open round still waits, in their order: who
// has not spoken in it, and has not let the agent wait too often. After m times in vain a
// peer is not waited for before 2^(m-1) rounds later. The round waits for nobody once its
// deadline has passed.
func (b *Barrier) Waits(expected []peer.ID, hasSent func(peer.ID) bool) []peer.ID {
	if b.late {
		return nil
	}
	return b.missing(expected, hasSent)
}

// Close ends the open round and returns who of the expected it has waited for and who
// has not spoken, in their order. Where its deadline has passed that was in vain, and they
// are blamed for it; a round may close before, when there is no need to wait any more.
func (b *Barrier) Close(expected []peer.ID, hasSent func(peer.ID) bool) (missing []peer.ID) {
	missing = b.missing(expected, hasSent)
	if b.late && len(missing) > 0 {
		if b.lapses == nil {
			b.lapses = absences{}
		}
		b.lapses.note(missing, b.number)
	}
	b.open = false
	return missing
}

// missing lists who may be waited for in the open round and has not spoken.
func (b *Barrier) missing(expected []peer.ID, hasSent func(peer.ID) bool) []peer.ID {
	if !b.open {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(expected), func(id peer.ID) bool {
		return hasSent(id) || !b.lapses.isForgiven(id, b.number)
	})
}
