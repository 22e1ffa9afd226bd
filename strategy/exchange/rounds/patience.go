package rounds

import "github.com/libp2p/go-libp2p/core/peer"

// mostLapses bounds the memory of who let the agent wait. When it is full it
// starts afresh: who has so many names needs no second chance.
const mostLapses = 1024

// lapse is how often a peer was waited for in vain, and the first round in which
// it may be waited for again.
type lapse struct{ times, again int }

// lapses bound what silent peers cost. After m times in vain a peer is not waited
// for before 2^(m-1) rounds later, so that it costs no more than 1 + log2 T deadlines
// in T rounds.
type lapses map[peer.ID]lapse

// blame takes down whom the agent has waited for in vain in a round.
func (l lapses) blame(missing []peer.ID, round int) {
	for _, id := range missing {
		if len(l) >= mostLapses {
			clear(l)
		}
		times := l[id].times + 1
		l[id] = lapse{times: times, again: round + 1<<(times-1)}
	}
}

// forgiven tells whether a peer may be waited for in a round.
func (l lapses) forgiven(id peer.ID, round int) bool { return round >= l[id].again }
