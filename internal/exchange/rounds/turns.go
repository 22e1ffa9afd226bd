package rounds

import "github.com/libp2p/go-libp2p/core/peer"

// Turns determines which peer proposes in a turn of a round: the roster in order, beginning with
// another peer each round, so that all propose equally often. Silent peers are passed over in the
// next turn.
type Turns struct {
	Roster []peer.ID // the same, in the same order, for all agents

	lapses absences // of peers that were passed over
}

// Leader returns the peer that may propose in this turn of a round, both at least 0: entry
// (round+turn) mod n of the n on the roster. It panics if the roster is empty.
func (t *Turns) Leader(round, turn int) peer.ID {
	return t.Roster[(round+turn)%len(t.Roster)]
}

// PassOver blames the peer that has this turn, because its proposal did not arrive in time or was
// wrong.
func (t *Turns) PassOver(round, turn int) {
	if t.lapses == nil {
		t.lapses = absences{}
	}
	t.lapses.note([]peer.ID{t.Leader(round, turn)}, round)
}

// Forgiven reports whether an agent may wait for the peer that has this turn. A peer that was
// passed over m times is forgiven 2^(m-1) rounds later.
func (t *Turns) Forgiven(round, turn int) bool {
	return t.lapses.isForgiven(t.Leader(round, turn), round)
}
