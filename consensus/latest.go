package consensus

import (
	"maps"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// arrivals is the Result of the exchange latest in the view: by peer, the agent's own round in
// which the peer's latest candidate arrived.
type arrivals map[peer.ID]int

// latest is the exchange without rounds (mode: asynchronous). An agent publishes its candidate
// after every trial. It uses the latest candidate of each peer, with a weight that falls with the
// candidate's age.
type latest struct {
	candidateExchange
	published int // round of the newest candidate whose computation was requested
	arrivals  arrivals
}

var _ strategy.Exchange = (*latest)(nil)

// newLatest returns the exchange of one agent.
func newLatest(t *task.Task) (*latest, error) {
	talk, err := newCandidateExchange(t)
	return &latest{candidateExchange: talk, arrivals: arrivals{}}, err
}

// Decode implements strategy.Exchange. The value is a protocol.Candidate, so each author has one
// candidate at a time.
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

// forget removes the arrivals of peers without a share in the view. The number of shares in the
// view is limited, and so memory is too.
func (l *latest) forget(view strategy.View) {
	held := map[peer.ID]bool{}
	for _, share := range view.Shares {
		held[share.Author] = true
	}
	maps.DeleteFunc(l.arrivals, func(id peer.ID, _ int) bool { return !held[id] })
}

// latestCandidates returns the latest candidates of the present peers, in order of peer.
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
