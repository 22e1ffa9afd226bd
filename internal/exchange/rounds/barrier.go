// Package rounds has the common parts of exchanges that proceed in rounds. In each round every
// agent sends one message and waits for those of the others, at most until a deadline. The next
// step then follows from the messages, or one agent decides it: a fixed leader, or the agent whose
// turn it is to propose.
//
// A [Barrier] holds the current round, whether its deadline has passed, and which peers have missed
// too many deadlines. [Turns] determines who proposes. The exchange defines the rest:
//
//   - the peers that are expected to send, such as present peers, peers in step or a roster;
//   - the content and transport of messages, and whether they belong to the round;
//   - start and length of the deadline: the exchange sets the timer, and calls Expire when it
//     fires;
//   - the actions when the round waits for no further peer, and when messages are missing.
//
// Each agent waits by the messages that it has received itself. Two agents may miss different
// messages and count deadlines against different peers. They then wait for different peers in later
// rounds. So decisions on which all agents must agree may not depend on this package.
//
// The package follows no paper: the papers' algorithms in rounds assume that all agents send. The
// limit of 1 + log2 T deadlines in T rounds for each silent identity is a choice of this project.
package rounds

import (
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Barrier determines in each of a sequence of rounds whether the agent still waits: until all
// expected peers have sent, at most until a deadline. The zero value has no round. A Barrier is
// part of an exchange and must not be used concurrently.
type Barrier struct {
	number int
	open   bool
	late   bool // the deadline has passed
	lapses absences
}

// Open begins a round, whose deadline has not passed. Numbers must be at least 1 and grow, perhaps
// by more than 1; otherwise Open panics. If the previous round is still open, it is abandoned
// without a missed deadline for any peer.
func (b *Barrier) Open(number int) {
	if number <= b.number {
		panic(fmt.Sprintf("rounds: round %d opens after round %d; numbers must grow, from 1 on", number, b.number))
	}
	b.number, b.open, b.late = number, true, false
}

// Number returns the number of the latest round, or 0 before the first.
func (b *Barrier) Number() int { return b.number }

// IsOpen reports whether the latest round has begun and not ended.
func (b *Barrier) IsOpen() bool { return b.open }

// Expire records that the deadline of the open round has passed. If no round is open it does
// nothing, since the timer may belong to a closed round.
func (b *Barrier) Expire() { b.late = b.late || b.open }

// Late reports whether the deadline of the latest round has passed while it was open.
func (b *Barrier) Late() bool { return b.late }

// Waits returns the expected peers for which the open round still waits, in the given order. It
// omits peers that have sent, and peers that have missed too many deadlines: after m missed
// deadlines of a peer, rounds wait for it again only 2^(m-1) rounds later. Once the deadline of the
// round has passed, Waits returns nil.
func (b *Barrier) Waits(expected []peer.ID, hasSent func(peer.ID) bool) []peer.ID {
	if b.late {
		return nil
	}
	return b.missing(expected, hasSent)
}

// Close ends the open round. It returns the expected peers for which the round waited and that have
// not sent, in the given order. If the deadline has passed, they have missed it. A round may also
// close before its deadline.
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

// missing returns the expected peers that have not sent in the open round and that have not missed
// too many deadlines.
func (b *Barrier) missing(expected []peer.ID, hasSent func(peer.ID) bool) []peer.ID {
	if !b.open {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(expected), func(id peer.ID) bool {
		return hasSent(id) || !b.lapses.isForgiven(id, b.number)
	})
}
