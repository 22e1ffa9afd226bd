package consensus

import (
	"maps"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// arrivals is what the exchange latest shows in the view: in which of the agent's own
// rounds each peer's latest candidate came.
type arrivals map[peer.ID]int

// latest is the exchange without rounds: an agent publishes its candidate after
// every trial, and takes of each peer the latest, that weighs less the longer ago
// it came.
type latest struct {
	candidateExchange
	published int // the round of the newest candidate that was asked for
	arrivals  arrivals
}

var _ strategy.Exchange = (*latest)(nil)

// newLatest returns the exchange of one agent.
func newLatest(t *task.Task) (*latest, error) {
	talk, err := newCandidateExchange(t)
	return &latest{candidateExchange: talk, arrivals: arrivals{}}, err
}

// Decode implements strategy.Exchange; the value is a protocol.Candidate, and an author
// has one.
func (l *latest) Decode(payload []byte) (any, error) { return l.decode(payload) }

// Step implements strategy.Exchange.
func (l *latest) Step(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Start, strategy.TrialsEnded:
		number := l.round(view)
		if number <= l.published {
			return nil
		}
		l.published = number
		return []strategy.Output{l.work(number)}
	case strategy.WorkDone:
		if candidate, ok := in.Result.(protocol.Candidate); ok {
			return l.publish(candidate, 0)
		}
	case strategy.Received:
		l.arrivals = maps.Clone(l.arrivals)
		l.arrivals[in.Share.Author] = l.round(view)
		l.forget(view)
		return []strategy.Output{strategy.Result{Value: l.arrivals}}
	}
	return nil
}

// forget keeps the memory to those whose shares are held, which are bounded.
func (l *latest) forget(view strategy.View) {
	held := map[peer.ID]bool{}
	for _, share := range view.Shares {
		held[share.Author] = true
	}
	maps.DeleteFunc(l.arrivals, func(id peer.ID, _ int) bool { return !held[id] })
}

// latestCandidates lists the latest candidates of those present, in order of peer.
func latestCandidates(view strategy.View, present func(peer.ID) bool, round int) []PeerCandidate {
	arrivals, _ := strategy.ResultOf[arrivals](view, protocol.CandidateKind)
	var candidates []PeerCandidate
	for share, c := range strategy.Shares[protocol.Candidate](view) {
		if present(share.Author) {
			candidates = append(candidates, PeerCandidate{Peer: share.Author, Candidate: c, Age: max(0, round-arrivals[share.Author])})
		}
	}
	return candidates
}
