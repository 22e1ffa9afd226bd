package consensus

import (
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/strategy"
)

// Of those ahead the candidate of the round counts while it can be had.
func TestTheCandidateOfTheRoundIsPreferred(t *testing.T) {
	d := newTable(t, 2)
	ahead := members(2)[1]
	for round := 1; round <= 3; round++ {
		d.hear(ahead, round, 0.1)
	}
	d.begin()
	for round := 1; round <= 3; round++ {
		d.closed(map[peer.ID]int{ahead: round})
		d.told()
	}
	d.open()
}

// Who lets the agent wait again and again is waited for ever less.
func TestPatienceEnds(t *testing.T) {
	d := newTable(t, 2)
	liar := members(2)[1]
	d.begin()
	var inVain []int
	for d.result.Number < 10 {
		if d.result.Open {
			inVain = append(inVain, d.result.Number)
			d.step(strategy.Timer{Name: deadlineTimer})
		}
		d.hear(liar, d.result.Number, 0.1) // in step again, once the round has closed
		d.told()
	}
	if want := []int{1, 2, 4, 8}; !slices.Equal(inVain, want) {
		t.Errorf("waited for in vain in rounds %v, want %v", inVain, want)
	}
}

// After a start an agent that sees nobody may only not have heard them yet.
func TestAStartedAgentListensFirst(t *testing.T) {
	all := members(3)
	see := func(d *table, agreed bool, present ...peer.ID) {
		d.view.Results[presence.Kind] = presence.Result{Present: present, Agreed: agreed}
		d.step(strategy.Timer{Name: checkTimer})
	}
	for name, c := range map[string]struct {
		then func(d *table)
		open bool
	}{
		"no peer comes":         {func(d *table) { d.step(strategy.Timer{Name: receivedTimer}) }, false},
		"some peers come":       {func(d *table) { see(d, false, all[0], all[1]); d.step(strategy.Timer{Name: receivedTimer}) }, true},
		"all have come":         {func(d *table) { see(d, true, all...); see(d, true, all[0]) }, false},
		"not all have come":     {func(d *table) { see(d, false, all[0], all[1]); see(d, false, all[0]) }, true},
		"the deadline is short": {func(d *table) { d.step(strategy.Timer{Name: deadlineTimer}) }, false},
	} {
		d := newTable(t, 1)
		d.step(strategy.Start{})
		d.step(strategy.WorkDone{Name: "candidate", Result: d.candidate(1, 0.5)})
		d.open()
		if c.then(d); d.result.Open != c.open {
			t.Errorf("%s: open is %v", name, d.result.Open)
		}
	}
}

// A trial that a stop cut off belongs to the round before; the candidate of the
// next one waits for its outcome.
func TestNoRoundWhileATrialIsCutOff(t *testing.T) {
	d := newTable(t, 2)
	d.view.Trials = append(d.view.Trials, strategy.Trial{ID: 3, State: strategy.Waiting})
	d.step(strategy.Start{})
	if d.works != 0 || d.result != nil {
		t.Errorf("%d candidates, round %+v", d.works, d.result)
	}
	d.view.Trials[2].State = strategy.Done
	d.begin()
	if d.result.Number != 2 {
		t.Errorf("round %d, want 2", d.result.Number)
	}
}
