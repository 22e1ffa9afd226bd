package rounds

import "github.com/libp2p/go-libp2p/core/peer"

// maxLapses is the maximum number of peers whose missed deadlines are stored. When it is reached,
// all are deleted. An attacker with that many identities gains nothing from this.
const maxLapses = 1024

// absence holds the number of deadlines that a peer has missed, and the first round in which the
// agent may wait for it again.
type absence struct{ times, again int }

// absences limits the cost of silent peers. After a peer's m-th missed deadline the agent waits for
// it again only 2^(m-1) rounds later. So a peer costs at most 1 + log2 T deadlines in T rounds.
type absences map[peer.ID]absence

// note records the peers that missed the deadline of a round.
func (l absences) note(missing []peer.ID, round int) {
	for _, id := range missing {
		if len(l) >= maxLapses {
			clear(l)
		}
		times := l[id].times + 1
		l[id] = absence{times: times, again: round + 1<<(times-1)}
	}
}

// isForgiven reports whether the agent may wait for a peer in a round.
func (l absences) isForgiven(id peer.ID, round int) bool { return round >= l[id].again }
