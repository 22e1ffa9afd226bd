package consensus

import (
	"maps"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/presence"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Round is what [Rounds] shows in the view.
type Round struct {
	Number  int
	Open    bool                // still collecting; the rest is not set
	Own     *protocol.Candidate // nil when the agent could make none
	Present []peer.ID           // sorted, the agent among them
	Voices  []Voice             // of those present, in order of peer
}

// Names of the timers of a round.
const (
	lookTimer     = "look"
	deadlineTimer = "deadline"
)

// looking is how often a round is looked at for members that have left.
const looking = 2 * time.Second

// Rounds is the exchange in which agents in step wait for each other's
// candidates, each up to its deadline.
type Rounds struct {
	talk
	round   Round
	late    bool            // the deadline has passed
	counted map[peer.ID]int // the newest round of each peer that has counted
}

var _ strategy.Exchange = (*Rounds)(nil)

// NewRounds returns the exchange of one agent.
func NewRounds(t *task.Task) (*Rounds, error) {
	talk, err := newTalk(t)
	return &Rounds{talk: talk, counted: map[peer.ID]int{}}, err
}

// Step implements strategy.Exchange.
func (r *Rounds) Step(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Start, strategy.Told:
		return r.begin(view)
	case strategy.WorkDone:
		return r.speak(view, in.Result)
	case strategy.Received:
		return r.close(view)
	case strategy.Timer:
		if !r.round.Open || r.round.Own == nil {
			return nil // left over from an earlier round
		}
		r.late = r.late || in.Name == deadlineTimer
		if outputs := r.close(view); len(outputs) > 0 {
			return outputs
		}
		return []strategy.Output{strategy.SetTimer{Name: lookTimer, After: looking}}
	}
	return nil
}

// begin opens the round of the next trial, once.
func (r *Rounds) begin(view strategy.View) []strategy.Output {
	number := r.talk.round(view)
	if r.round.Open || number <= r.round.Number {
		return nil
	}
	r.round, r.late = Round{Number: number, Open: true}, false
	return []strategy.Output{strategy.Result{Value: r.round}, r.work(number)}
}

// speak publishes the own candidate, from when on the deadline runs.
func (r *Rounds) speak(view strategy.View, result any) []strategy.Output {
	candidate, ok := result.(protocol.Candidate)
	if !ok { // the agent has reported why; it chooses alone this time
		r.round.Open = false
		return []strategy.Output{strategy.Result{Value: r.round}}
	}
	r.round.Own = &candidate
	outputs := r.publish(candidate, uint64(candidate.Round))
	if closed := r.close(view); len(closed) > 0 {
		return append(outputs, closed...)
	}
	return append(outputs,
		strategy.SetTimer{Name: deadlineTimer, After: time.Duration(r.settings.Deadline) * time.Second},
		strategy.SetTimer{Name: lookTimer, After: looking})
}

// close ends the round when nobody is waited for any more.
func (r *Rounds) close(view strategy.View) []strategy.Output {
	if !r.round.Open || r.round.Own == nil {
		return nil
	}
	present := presence.Of(view).Present
	said := spoken(view)
	var voices []Voice
	for _, id := range present {
		if id == view.Self {
			continue
		}
		candidate, inRound := said[id].choose(r.round.Number)
		if !inRound && !r.late && r.inStep(candidate) {
			return nil
		}
		if inRound || candidate.Round > r.counted[id] {
			voices = append(voices, Voice{Peer: id, Candidate: candidate})
		}
	}
	maps.DeleteFunc(r.counted, func(id peer.ID, _ int) bool { return len(said[id]) == 0 })
	for _, voice := range voices {
		r.counted[voice.Peer] = max(r.counted[voice.Peer], voice.Candidate.Round)
	}
	r.round.Open, r.round.Present, r.round.Voices = false, present, voices
	return []strategy.Output{strategy.Result{Value: r.round}}
}

// inStep tells whether a peer whose newest candidate is this one, the zero one if
// it has none, will have one of the round soon.
func (r *Rounds) inStep(newest protocol.Candidate) bool { return newest.Round == r.round.Number-1 }

// words are the candidates of one peer that are held, in order of round.
type words []protocol.Candidate

// spoken lists the candidates in the view by peer.
func spoken(view strategy.View) map[peer.ID]words {
	said := map[peer.ID]words{}
	for _, share := range view.Shares {
		if c, ok := share.Value.(protocol.Candidate); ok && share.Slot == uint64(c.Round) {
			said[share.Author] = append(said[share.Author], c)
		}
	}
	return said
}

// choose returns the candidate of the round if there is one, otherwise the newest.
func (w words) choose(round int) (candidate protocol.Candidate, inRound bool) {
	for _, candidate = range w {
		if candidate.Round == round {
			return candidate, true
		}
	}
	return candidate, false
}
