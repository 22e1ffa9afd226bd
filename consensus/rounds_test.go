package consensus

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func newTask(t testing.TB, settings string) *task.Task {
	t.Helper()
	return strategytest.Task(t, strategy.Set{Register()}, `
name: consensus
goal: minimize
parameters:
  - {name: x, type: float, low: 0, high: 1}
  - {name: n, type: int, low: 0, high: 10}
  - {name: kind, type: categorical, choices: [a, b, c]}
surrogate: {features: 32}
strategy: {type: consensus, initial_designs: 2, rounds: 10%s}`, settings)
}

// table is an exchange with a view that the test sets.
type table struct {
	t        testing.TB
	task     *task.Task
	exchange *rounds
	view     strategy.View
	result   *Round // the latest
	sent     []strategy.Publish
	works    int
	timers   []string // that were set
}

func newTable(t testing.TB, present int) *table {
	definition := newTask(t, "")
	exchange, err := newRounds(definition)
	if err != nil {
		t.Fatal(err)
	}
	all := members(present)
	return &table{t: t, task: definition, exchange: exchange, view: strategy.View{
		Task:         definition,
		Self:         all[0],
		Observations: 2,
		Trials:       make([]strategy.Trial, 2),
		Results:      map[string]any{presence.Kind: presence.Result{Present: all, Agreed: true}},
	}}
}

func (d *table) step(in strategy.Input) {
	for _, output := range d.exchange.Step(d.view, in) {
		switch output := output.(type) {
		case strategy.Result:
			round := output.Value.(Round)
			d.result = &round
		case strategy.Publish:
			d.sent = append(d.sent, output)
		case strategy.Work:
			d.works++
		case strategy.SetTimer:
			d.timers = append(d.timers, output.Name)
		}
	}
}

// begin brings the agent to where its own candidate of the next round is out.
func (d *table) begin() {
	d.t.Helper()
	d.step(strategy.TrialsEnded{})
	if d.result == nil || !d.result.Open {
		d.t.Fatalf("the round is not open: %+v", d.result)
	}
	d.step(strategy.WorkDone{Name: "candidate", Result: d.candidate(d.result.Number, 0.5)})
}

// told ends the trial of the round that has closed.
func (d *table) told() {
	d.view.Trials = append(d.view.Trials, strategy.Trial{})
	d.view.Observations++
	d.begin()
}

func (d *table) candidate(round int, x float64) protocol.Candidate {
	return protocol.Candidate{Round: round, Point: protocol.Point{Coordinates: []float64{x, 0.5}, Choices: []int{1}}}
}

func (d *table) hear(from peer.ID, round int, x float64) {
	share := strategy.Share{Value: inRound{d.candidate(round, x)}}
	share.Author, share.Kind, share.Slot = from, protocol.CandidateKind, uint64(round)
	d.view.Shares = append(d.view.Shares, &share)
	d.step(strategy.Received{Share: share})
}

// closed fails unless the round has closed on candidates of these rounds.
func (d *table) closed(want map[peer.ID]int) {
	d.t.Helper()
	if d.result.Open {
		d.t.Fatal("the round is still open")
	}
	got := map[peer.ID]int{}
	for _, voice := range d.result.Candidates {
		got[voice.Peer] = voice.Candidate.Round
	}
	if len(got) != len(want) {
		d.t.Fatalf("candidates of rounds %v, want %v", got, want)
	}
	for id, round := range want {
		if got[id] != round {
			d.t.Fatalf("candidates of rounds %v, want %v", got, want)
		}
	}
}

func (d *table) open() {
	d.t.Helper()
	if !d.result.Open {
		d.t.Fatalf("round %d has closed", d.result.Number)
	}
}

func TestRoundClosesWhenAllHaveSpoken(t *testing.T) {
	d := newTable(t, 3)
	all := members(3)
	d.begin()
	d.hear(all[1], 1, 0.1)
	d.open()
	d.hear(all[2], 1, 0.9)
	d.closed(map[peer.ID]int{all[1]: 1, all[2]: 1})
	if len(d.sent) != 1 || d.sent[0].Slot != 1 || d.sent[0].Ephemeral {
		t.Errorf("sent %+v", d.sent)
	}
}

func TestALoneAgentGoesOnAlone(t *testing.T) {
	d := newTable(t, 1)
	for range 3 {
		d.begin()
		d.closed(map[peer.ID]int{})
		d.view.Trials = append(d.view.Trials, strategy.Trial{})
	}
}

func TestTheDeadlineClosesARound(t *testing.T) {
	d := newTable(t, 3)
	all := members(3)
	d.begin()
	d.hear(all[1], 1, 0.1)
	d.step(strategy.Timer{Name: checkTimer})
	d.open()
	d.step(strategy.Timer{Name: deadlineTimer})
	d.closed(map[peer.ID]int{all[1]: 1})
}

// Who is late is not waited for again, and counts in the next round, once.
func TestALateCandidateCountsOnce(t *testing.T) {
	d := newTable(t, 2)
	late := members(2)[1]
	d.begin()
	d.step(strategy.Timer{Name: deadlineTimer})
	d.closed(map[peer.ID]int{})
	d.hear(late, 1, 0.1)
	d.told() // round 2: in step again, so waited for
	d.open()
	d.step(strategy.Timer{Name: deadlineTimer})
	d.closed(map[peer.ID]int{late: 1})
	d.told() // round 3: a round behind
	d.closed(map[peer.ID]int{})
	d.hear(late, 2, 0.2)
	d.hear(late, 3, 0.3)
	d.told() // round 4
	d.hear(late, 4, 0.4)
	d.closed(map[peer.ID]int{late: 4})
}

// An agent that was away hears those that went on: the newest that it can get.
func TestASlowAgentHearsThoseAhead(t *testing.T) {
	d := newTable(t, 2)
	ahead := members(2)[1]
	for round := 7; round <= 9; round++ {
		d.hear(ahead, round, 0.1)
	}
	d.begin()
	d.closed(map[peer.ID]int{ahead: 9})
	d.told()
	d.closed(map[peer.ID]int{})
}

func TestWhoLeavesIsNotWaitedFor(t *testing.T) {
	d := newTable(t, 2)
	d.begin()
	for range 3 { // it goes on looking
		d.open()
		if !slices.Contains(d.timers, checkTimer) {
			t.Fatal("nobody looks whether somebody has left")
		}
		d.timers = nil
		d.step(strategy.Timer{Name: checkTimer})
	}
	d.view.Results[presence.Kind] = presence.Result{Present: []peer.ID{d.view.Self}, Agreed: true}
	d.step(strategy.Timer{Name: checkTimer})
	d.closed(map[peer.ID]int{})
}

// A timer of the round before must not cut the next one short.
func TestOldTimersDoNothing(t *testing.T) {
	d := newTable(t, 2)
	d.begin()
	d.hear(members(2)[1], 1, 0.1)
	d.view.Trials = append(d.view.Trials, strategy.Trial{})
	d.step(strategy.TrialsEnded{})
	d.step(strategy.Timer{Name: deadlineTimer})
	d.step(strategy.WorkDone{Name: "candidate", Result: d.candidate(2, 0.5)})
	d.open()
}

func TestNoRoundWithoutNeed(t *testing.T) {
	d := newTable(t, 2)
	d.view.Trials, d.view.Observations = make([]strategy.Trial, 1), 1
	d.step(strategy.TrialsEnded{})
	if d.works != 0 {
		t.Error("a round for a starting design")
	}
	d.view.Trials = make([]strategy.Trial, 12)
	d.view.Observations = 12
	d.step(strategy.TrialsEnded{})
	if d.works != 0 {
		t.Error("a round beyond the last")
	}
	d.view.Trials = make([]strategy.Trial, 5)
	d.step(strategy.TrialsEnded{})
	d.step(strategy.TrialsEnded{})
	if d.works != 1 {
		t.Errorf("%d candidates for one round", d.works)
	}
}

func TestAnAgentWithoutCandidateIsNotStuck(t *testing.T) {
	d := newTable(t, 2)
	d.step(strategy.TrialsEnded{})
	d.step(strategy.WorkDone{Name: "candidate", Err: errors.New("no design is left")})
	if d.result.Open || d.result.Own != nil {
		t.Errorf("the round is %+v", d.result)
	}
	d.told()
}

// The payloads themselves are refused where protocol decodes them; here what
// only the task knows.
func TestRefusedCandidates(t *testing.T) {
	space := newTask(t, "").Space
	number := 1.5
	payload := func(c protocol.Candidate, rounds int) []byte {
		data, err := c.Encode(space, rounds)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	d := newTable(t, 2)
	good := d.candidate(3, 0.25)
	withResponse := good
	withResponse.Response = &number
	for name, c := range map[string]struct {
		settings string
		payload  []byte
		refused  bool
	}{
		"good":                 {"", payload(good, 10), false},
		"of round 11 of 10":    {"", payload(d.candidate(11, 0.25), 11), true},
		"unwanted response":    {"", payload(withResponse, 10), true},
		"wanted response":      {", weights: leader", payload(withResponse, 10), false},
		"no wanted response":   {", weights: leader", payload(good, 10), true},
		"empty":                {"", nil, true},
		"of an earlier format": {"", []byte{0xff, 0x01}, true},
	} {
		exchange, err := newRounds(newTask(t, c.settings))
		if err != nil {
			t.Fatal(err)
		}
		value, err := exchange.Decode(c.payload)
		if c.refused != errors.Is(err, protocol.ErrMalformed) || !c.refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && strategy.SlotOf(value) != 3 {
			t.Errorf("%s: a candidate of round 3 in slot %d", name, strategy.SlotOf(value))
		}
	}
}

func TestResponseIsTheBestInUnitsOfTheTask(t *testing.T) {
	outcome := func(v float64) *strategy.Outcome { return &strategy.Outcome{Value: v} }
	view := strategy.View{Trials: []strategy.Trial{
		{State: strategy.Done, Outcome: outcome(3)}, {State: strategy.Failed}, {State: strategy.Done, Outcome: outcome(-2)},
	}}
	for settings, want := range map[string]float64{
		", weights: leader": 2,
		", weights: leader, response: noisy, response_noise: 1e-3": 2,
	} {
		talk, err := newCandidateExchange(newTask(t, settings))
		if err != nil {
			t.Fatal(err)
		}
		got := talk.response(view, random.SeedOf(1).Stream("test", 1))
		noisy := math.Abs(*got-want) > 0
		if math.Abs(*got-want) > 0.01 || noisy != (talk.settings.Response == "noisy") {
			t.Errorf("%s: response %g", settings, *got)
		}
	}
	talk, err := newCandidateExchange(newTask(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	if got := talk.response(view, random.SeedOf(1).Stream("test", 1)); got != nil {
		t.Errorf("a response of %g that the task does not exchange", *got)
	}
}

// TestResponseIsFeasible: an agent leads by no value that breaks a bound.
func TestResponseIsFeasible(t *testing.T) {
	spec := *newTask(t, ", weights: leader") // minimize
	spec.Constraints = []task.Constraint{{Output: "memory", Low: math.Inf(-1), High: 10}}
	talk, err := newCandidateExchange(&spec)
	if err != nil {
		t.Fatal(err)
	}
	trial := func(value, memory float64) strategy.Trial {
		return strategy.Trial{State: strategy.Done, Outcome: &strategy.Outcome{Value: value, Constraints: map[string]task.Reading{"memory": task.Number(memory)}}}
	}
	trials := []strategy.Trial{trial(-5, 11), trial(3, 9), trial(4, 9)}
	for n, want := range map[int]float64{1: -protocol.MaxUnit, 3: -3} {
		if got := talk.response(strategy.View{Trials: trials[:n]}, nil); *got != want {
			t.Errorf("response to %d trials %g, want %g", n, *got, want)
		}
	}
}

// Numbers are averaged on their scale, categories voted on.
func TestAverageIsAValidDesign(t *testing.T) {
	definition := newTask(t, "")
	all := members(4)
	point := func(x, n float64, choice int) protocol.Candidate {
		return protocol.Candidate{Round: 1, Point: protocol.Point{Coordinates: []float64{x, n}, Choices: []int{choice}}}
	}
	c := averager{self: all[0], own: point(0.2, 0.05, 0), present: all, t: 1, settings: settingsOf(definition), candidates: []PeerCandidate{
		{Peer: all[1], Candidate: point(0.4, 0.05, 2)}, {Peer: all[2], Candidate: point(0.6, 0.95, 1)}, {Peer: all[3], Candidate: point(0.8, 0.95, 2)},
	}}
	design := definition.Space.Decode(c.average(definition.Space))
	if math.Abs(design.Float("x")-0.5) > 1e-9 || design.Int("n") != 5 || design.Choice("kind") != "c" {
		t.Errorf("the average is %v", design)
	}
	if !slices.Contains([]string{"a", "b", "c"}, design.Choice("kind")) {
		t.Errorf("no such choice: %v", design)
	}
}
