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

// Round is what the exchange in rounds shows in the view.
type Round struct {
	Number     int
	Open       bool                // still collecting; the rest is not set
	Own        *protocol.Candidate // nil when the agent could make none
	Present    []peer.ID           // sorted, the agent among them
	Candidates []PeerCandidate     // of those present, in order of peer
}

// Names of the timers.
const (
	receivedTimer = "heard"
	checkTimer    = "look"
	deadlineTimer = "deadline"
)

const (
	// receiving is the time after a start during which an agent without present peers does not
	// assume that it is alone: present nodes publish their presence within one interval.
	receiving = presence.Interval
	// looking is how often a round is looked at for members that have left.
	checkInterval = 2 * time.Second
)

// rounds is the exchange in which agents in step wait for each other's
// candidates, each up to its deadline.
type rounds struct {
	candidateExchange
	round     Round
	barrier   step.Barrier    // of the same round
	before    int             // the number of the agent's round before this one, 0 after a start
	replaying bool            // started just now, and may not know yet who is present
	counted   map[peer.ID]int // the newest round of each peer that has counted
}

var _ strategy.Exchange = (*rounds)(nil)

// newRounds returns the exchange of one agent.
func newRounds(t *task.Task) (*rounds, error) {
	talk, err := newCandidateExchange(t)
	return &rounds{candidateExchange: talk, counted: map[peer.ID]int{}}, err
}

// inRound is a candidate in the slot of its round: an author has one for each of the
// latest rounds.
type inRound struct{ protocol.Candidate }

var _ strategy.Slotted = inRound{}

// Slot implements strategy.Slotted.
func (c inRound) Slot() uint64 { return uint64(c.Round) }

// Decode implements strategy.Exchange; the value is a protocol.Candidate in the slot of
// its round.
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
			return outputs // a candidate that does not know its outcome would come too early
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

// cutOff reports whether a stop of the node has cut off the trial. Such trials are evaluated before
// the next one is chosen.
func cutOff(trial strategy.Trial) bool { return trial.State == strategy.Waiting }

func (r *rounds) timer(view strategy.View, name string) []strategy.Output {
	if name == receivedTimer {
		r.replaying = false
		return r.close(view)
	}
	if !r.round.Open || r.round.Own == nil {
		return nil // left over from an earlier round
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
	r.before = r.round.Number // several evaluators, or imported trials, skip numbers
	r.barrier.Open(number)
	r.round = Round{Number: number, Open: true}
	return []strategy.Output{strategy.Result{Value: r.round}, r.work(number)}
}

// publishCandidate publishes the own candidate, from when on the deadline runs.
func (r *rounds) publishCandidate(view strategy.View, result any) []strategy.Output {
	candidate, ok := result.(protocol.Candidate)
	if !ok { // the agent has reported why; it chooses alone this time
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

// close ends the round when the agent waits for no peer any more.
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

// cannotKnow reports whether, right after a start, peers may be present from which the agent has
// received nothing yet. There are none when all present peers report the same set.
func (r *rounds) cannotKnow(view strategy.View) bool {
	seen := presence.Of(view)
	if r.barrier.Late() || len(seen.Present) > 1 && seen.Agreed {
		r.replaying = false
	}
	return r.replaying
}

// inStep reports whether a peer of which this is the best candidate, the zero one if it has
// none, has one of the round, or was in step before, so that it will have one soon.
func (r *rounds) inStep(best protocol.Candidate) bool {
	return r.before <= best.Round && best.Round <= r.round.Number
}

// publishedCandidates are the candidates of one peer that are held, in order of round.
type publishedCandidates []protocol.Candidate

// publishedIn lists the candidates in the view by peer.
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
