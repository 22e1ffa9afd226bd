// Package rounds is for exchanges of agents in step: in each round every agent sends one message
// and waits for the others, at most until a deadline. Then the messages determine the next step, or
// one agent does: a fixed leader, or the agent that has the turn to propose.
//
// A [Barrier] holds the round, whether its deadline has passed, and which peers have missed too
// many deadlines. [Turns] determines the proposer. The exchange defines the rest:
//
//   - the peers that are expected to send: those present, those in step, a roster;
//   - the content and transport of messages, and whether they belong to the round;
//   - start and length of the deadline: the exchange sets the timer, and calls Expire when it
//     fires;
//   - the consequences when the round waits for no peer any more, and when some are missing.
//
// Each agent waits according to the messages that it has received itself. Two agents may miss and
// blame different peers, and therefore wait for different peers in later rounds. Decisions on which
// all must agree may not depend on it.
//
// The package has no source of its own: the papers' algorithms in rounds assume that all agents
// send. The limit of 1 + log2 T deadlines in T rounds, for each silent identity, is a choice of
// this project.
package rounds

import (
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Barrier waits, in each of a sequence of rounds, until the expected peers have sent, at most until
// a deadline. The zero value has no round yet. It is part of an exchange, and like it for one
// goroutine.
type Barrier struct {
	number int
	open   bool
	late   bool // the deadline has passed
	lapses absences
}

// Open begins a round, the deadline of which has not passed. Numbers are at least 1 and
// grow, perhaps by more than 1; otherwise it panics. A round that is still open is abandoned,
// and no peer is blamed.
func (b *Barrier) Open(number int) {
	if number <= b.number {
		panic(fmt.Sprintf("rounds: round %d opens after round %d; numbers must grow, from 1 on", number, b.number))
	}
	b.number, b.open, b.late = number, true, false
}

// Number returns the number of the latest round, 0 before the first.
func (b *Barrier) Number() int { return b.number }

// IsOpen reports whether the latest round has begun and not ended.
func (b *Barrier) IsOpen() bool { return b.open }

// Expire notes that the deadline of the open round has passed. Without an open round it does
// nothing: a timer may be left over from a closed one.
func (b *Barrier) Expire() { b.late = b.late || b.open }

// Late reports whether the deadline of the latest round has passed while it was open.
func (b *Barrier) Late() bool { return b.late }

// Waits returns the expected peers for which the open round still waits, in their order: those that
// have sent nothing in it and have not missed too many deadlines. After m missed deadlines of a
// peer, rounds wait for it again only 2^(m-1) rounds later. The round waits for no peer once
// its deadline has passed.
func (b *Barrier) Waits(expected []peer.ID, hasSent func(peer.ID) bool) []peer.ID {
	if b.late {
		return nil
	}
	return b.missing(expected, hasSent)
}

// Close ends the open round and returns the expected peers for which it has waited and that have
// sent nothing, in their order. They are blamed if the deadline has passed. A round may close
// before, when there is no need to wait any more.
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

// missing returns the expected peers that have not sent in the open round and for which it may
// wait.
func (b *Barrier) missing(expected []peer.ID, hasSent func(peer.ID) bool) []peer.ID {
	if !b.open {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(expected), func(id peer.ID) bool {
		return hasSent(id) || !b.lapses.isForgiven(id, b.number)
	})
}
