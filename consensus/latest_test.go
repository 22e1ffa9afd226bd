package consensus

import (
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// desk is an exchange without rounds, with a view that the test sets.
type desk struct {
	t        testing.TB
	exchange *latest
	view     strategy.View
	works    int
}

// newDesk stands before its trial of round 1; there are this many others.
func newDesk(t testing.TB, others int) *desk {
	t.Helper()
	definition := newTask(t, ", mode: asynchronous")
	exchange, err := newLatest(definition)
	if err != nil {
		t.Fatal(err)
	}
	all := members(others + 1)
	return &desk{t: t, exchange: exchange, view: strategy.View{
		Task: definition, Self: all[0], Observations: 2, Trials: make([]strategy.Trial, 2),
		Results: map[string]any{presence.Kind: presence.Result{Present: all, Agreed: true}},
	}}
}

func (d *desk) step(in strategy.Input) {
	for _, output := range d.exchange.Step(d.view, in) {
		switch output := output.(type) {
		case strategy.Result:
			d.view.Results[protocol.CandidateKind] = output.Value
		case strategy.Work:
			d.works++
		}
	}
}

func (d *desk) hear(from peer.ID) {
	share := strategy.Share{Value: protocol.Candidate{Round: 3, Point: protocol.Point{Coordinates: []float64{0.5, 0.5}, Choices: []int{1}}}}
	share.Author, share.Kind = from, protocol.CandidateKind
	d.view.Shares = append(d.view.Shares, &share)
	d.step(strategy.Received{Share: share})
}

func (d *desk) candidates(round int) []PeerCandidate {
	return latestCandidates(d.view, presence.Of(d.view).Has, round)
}

func TestCandidatesAgeByOwnTrials(t *testing.T) {
	d := newDesk(t, 2)
	all := members(3)
	d.hear(all[1])
	d.view.Trials = make([]strategy.Trial, 5)
	d.hear(all[2])
	var ages []int
	for _, voice := range d.candidates(4) {
		ages = append(ages, voice.Age)
	}
	if want := []int{3, 0}; !slices.Equal(ages, want) {
		t.Errorf("ages %v, want %v", ages, want)
	}
}

func TestOnlyThosePresentCount(t *testing.T) {
	d := newDesk(t, 2)
	all := members(3)
	for _, id := range all[1:] {
		d.hear(id)
	}
	d.view.Results[presence.Kind] = presence.Result{Present: all[:2]}
	if candidates := d.candidates(1); len(candidates) != 1 || candidates[0].Peer != all[1] {
		t.Errorf("counting are %+v", candidates)
	}
}

// Names that come and go do not fill the memory.
func TestWhoseSharesAreGoneIsForgotten(t *testing.T) {
	d := newDesk(t, 0)
	for _, id := range members(50)[1:] {
		d.view.Shares = nil
		d.hear(id)
	}
	if len(d.exchange.arrivals) != 1 {
		t.Errorf("%d arrivals are remembered, one share is held", len(d.exchange.arrivals))
	}
}

func TestACandidateForEachTrialAndNoMore(t *testing.T) {
	d := newDesk(t, 1)
	d.step(strategy.Start{})
	d.step(strategy.TrialsEnded{})
	if d.works != 1 {
		t.Errorf("%d candidates for one trial", d.works)
	}
	d.view.Trials = append(d.view.Trials, strategy.Trial{})
	d.step(strategy.TrialsEnded{})
	d.view.Trials = make([]strategy.Trial, 12) // all rounds are over
	d.step(strategy.TrialsEnded{})
	if d.works != 2 {
		t.Errorf("%d candidates for two trials", d.works)
	}
}
