package rounds

import "github.com/libp2p/go-libp2p/core/peer"

// maxLapses bounds the memory of who let the agent wait. When it is full it
// starts afresh: who has so many names needs no second chance.
const maxLapses = 1024

// absence is how often a peer was waited for in vain, and the first round in which
// it may be waited for again.
type absence struct{ times, again int }

// absences bound what silent peers cost. After m times in vain a peer is not waited
// for before 2^(m-1) rounds later, so that it costs no more than 1 + log2 T deadlines
// in T rounds.
type absences map[peer.ID]absence

// note takes down whom the agent has waited for in vain in a round.
func (l absences) note(missing []peer.ID, round int) {
	for _, id := range missing {
		if len(l) >= maxLapses {
			clear(l)
		}
		times := l[id].times + 1
		l[id] = absence{times: times, again: round + 1<<(times-1)}
	}
}

// isForgiven tells whether a peer may be waited for in a round.
func (l absences) isForgiven(id peer.ID, round int) bool { return round >= l[id].again }
