package rounds

import "github.com/libp2p/go-libp2p/core/peer"

// Turns determines which peer proposes in each turn of a round. It goes through the roster in order
// and begins with another peer in each round, so that all peers propose equally often. If a peer is
// silent, the next turn of the round goes to the next peer.
type Turns struct {
	Roster []peer.ID // all peers; all agents must have the same order

	lapses absences // peers that were passed over
}

// Leader returns the peer that may propose in this turn of a round: entry (round+turn) mod n of a
// roster of n peers. Both numbers must be at least 0. It panics if the roster is empty.
func (t *Turns) Leader(round, turn int) peer.ID {
	return t.Roster[(round+turn)%len(t.Roster)]
}

// PassOver records a missed deadline of the peer that has this turn, because its proposal did not
// arrive in time or was wrong.
func (t *Turns) PassOver(round, turn int) {
	if t.lapses == nil {
		t.lapses = absences{}
	}
	t.lapses.note([]peer.ID{t.Leader(round, turn)}, round)
}

// Forgiven reports whether the agent may wait for the peer that has this turn. After a peer was
// passed over m times, that is so again 2^(m-1) rounds later.
func (t *Turns) Forgiven(round, turn int) bool {
	return t.lapses.isForgiven(t.Leader(round, turn), round)
}
