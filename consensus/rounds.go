package consensus

import (
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	step "github.com/fbo-node/fbo/internal/exchange/rounds"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Round is the Result of the exchange in rounds: the state of the agent's current round.
type Round struct {
	Number     int
	Open       bool                // the exchange is still collecting candidates; the fields below are not set
	Own        *protocol.Candidate // nil if the computation of the own candidate failed
	Present    []peer.ID           // all present agents, sorted, this one included
	Candidates []PeerCandidate     // candidates of present peers, in order of peer
}

// The names of the timers.
const (
	receivedTimer = "heard"
	checkTimer    = "look"
	deadlineTimer = "deadline"
)

const (
	// receiving is the time after a start for which an agent without present peers does not assume
	// that it has none. Present nodes publish their presence within one interval.
	receiving = presence.Interval
	// checkInterval is the time between two checks whether the awaited peers have left.
	checkInterval = 2 * time.Second
)

// rounds is the exchange in which agents in step wait for each other's candidates up to a deadline.
type rounds struct {
	candidateExchange
	round     Round
	barrier   step.Barrier    // determines for which peers the round waits
	before    int             // number of the agent's previous round; 0 after a start
	replaying bool            // the node started recently and may not know all present peers yet
	counted   map[peer.ID]int // by peer, the round of its newest candidate that was used
}

var _ strategy.Exchange = (*rounds)(nil)

// newRounds returns the exchange of one agent.
func newRounds(t *task.Task) (*rounds, error) {
	talk, err := newCandidateExchange(t)
	return &rounds{candidateExchange: talk, counted: map[peer.ID]int{}}, err
}

// inRound is a candidate whose slot is its round, so that an author has one candidate for each of
// its latest rounds.
type inRound struct{ protocol.Candidate }

var _ strategy.Slotted = inRound{}

// Slot implements strategy.Slotted.
func (c inRound) Slot() uint64 { return uint64(c.Round) }

// Decode implements strategy.Exchange. The value is an inRound.
func (r *rounds) Decode(payload []byte) (any, error) {
	c, err := r.decode(payload)
	return inRound{c}, err
}

// Step implements strategy.Exchange.
func (r *rounds) Step(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Start:
		r.replaying = true
		outputs := []strategy.Output{strategy.SetTimer{Name: receivedTimer, After: receiving}}
		if slices.ContainsFunc(view.Trials, cutOff) {
			return outputs // an interrupted trial has no outcome yet, and a candidate should use it
		}
		return append(outputs, r.begin(view)...)
	case strategy.TrialsEnded:
		return r.begin(view)
	case strategy.WorkDone:
		return r.publishCandidate(view, in.Result)
	case strategy.Received:
		return r.close(view)
	case strategy.Timer:
		return r.timer(view, in.Name)
	}
	return nil
}

// cutOff reports whether a stop of the node has interrupted the trial. Such trials are evaluated
// before the next one is chosen.
func cutOff(trial strategy.Trial) bool { return trial.State == strategy.Waiting }

func (r *rounds) timer(view strategy.View, name string) []strategy.Output {
	if name == receivedTimer {
		r.replaying = false
		return r.close(view)
	}
	if !r.round.Open || r.round.Own == nil {
		return nil // the timer belongs to an earlier round
	}
	if name == deadlineTimer {
		r.barrier.Expire()
	}
	if outputs := r.close(view); len(outputs) > 0 {
		return outputs
	}
	return []strategy.Output{strategy.SetTimer{Name: checkTimer, After: checkInterval}}
}

// begin opens the round of the next trial, once.
func (r *rounds) begin(view strategy.View) []strategy.Output {
	number := r.candidateExchange.round(view)
	if r.round.Open || number <= r.round.Number {
		return nil
	}
	r.before = r.round.Number // not always number-1: several evaluators and imported trials skip numbers
	r.barrier.Open(number)
	r.round = Round{Number: number, Open: true}
	return []strategy.Output{strategy.Result{Value: r.round}, r.work(number)}
}

// publishCandidate publishes the own candidate and starts the deadline of the round.
func (r *rounds) publishCandidate(view strategy.View, result any) []strategy.Output {
	candidate, ok := result.(protocol.Candidate)
	if !ok { // the agent has reported the error; it chooses without peers in this round
		r.barrier.Close(nil, nil)
		r.round.Open = false
		return []strategy.Output{strategy.Result{Value: r.round}}
	}
	r.round.Own = &candidate
	outputs := r.publish(candidate, inRound{candidate}.Slot())
	if closed := r.close(view); len(closed) > 0 {
		return append(outputs, closed...)
	}
	return append(outputs,
		strategy.SetTimer{Name: deadlineTimer, After: deadlineOf(r.settings)},
		strategy.SetTimer{Name: checkTimer, After: checkInterval})
}

// close closes the round if the agent waits for no further peer.
func (r *rounds) close(view strategy.View) []strategy.Output {
	if !r.round.Open || r.round.Own == nil || r.cannotKnow(view) {
		return nil
	}
	present := presence.Of(view).Present
	said := publishedIn(view)
	var candidates []PeerCandidate
	var expected []peer.ID
	for _, id := range present {
		if id == view.Self {
			continue
		}
		candidate := said[id].choose(r.round.Number)
		if r.inStep(candidate) {
			expected = append(expected, id)
		}
		if candidate.Round > r.counted[id] {
			candidates = append(candidates, PeerCandidate{Peer: id, Candidate: candidate})
		}
	}
	ofRound := func(id peer.ID) bool { return said[id].choose(r.round.Number).Round == r.round.Number }
	if len(r.barrier.Waits(expected, ofRound)) > 0 {
		return nil
	}
	r.barrier.Close(expected, ofRound)
	maps.DeleteFunc(r.counted, func(id peer.ID, _ int) bool { return len(said[id]) == 0 })
	for _, voice := range candidates {
		r.counted[voice.Peer] = voice.Candidate.Round
	}
	r.round.Open, r.round.Present, r.round.Candidates = false, present, candidates
	return []strategy.Output{strategy.Result{Value: r.round}}
}

// cannotKnow reports whether the node started so recently that it may not know all present peers.
// It knows them all once all peers that it sees report the same set of present nodes, or once the
// deadline has passed.
func (r *rounds) cannotKnow(view strategy.View) bool {
	seen := presence.Of(view)
	if r.barrier.Late() || len(seen.Present) > 1 && seen.Agreed {
		r.replaying = false
	}
	return r.replaying
}

// inStep reports whether a peer with this best candidate (the zero value if it has none) is in
// step. It is in step if it has a candidate of this round, or one of the agent's previous round or
// later, so that it will have one of this round soon.
func (r *rounds) inStep(best protocol.Candidate) bool {
	return r.before <= best.Round && best.Round <= r.round.Number
}

// publishedCandidates are the stored candidates of one peer, in order of round.
type publishedCandidates []protocol.Candidate

// publishedIn returns the candidates in the view, by peer.
func publishedIn(view strategy.View) map[peer.ID]publishedCandidates {
	said := map[peer.ID]publishedCandidates{}
	for share, c := range strategy.Shares[inRound](view) {
		said[share.Author] = append(said[share.Author], c.Candidate)
	}
	return said
}

// choose returns the candidate of the round if there is one, otherwise the newest.
func (w publishedCandidates) choose(round int) (candidate protocol.Candidate) {
	for _, candidate = range w {
		if candidate.Round == round {
			break
		}
	}
	return candidate
}
