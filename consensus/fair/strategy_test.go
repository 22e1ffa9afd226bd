package fair

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// viewOf is that of a node with results at these designs.
func viewOf(t *testing.T, definition *task.Task, x ...[]float64) strategy.View {
	t.Helper()
	view := strategytest.View(definition, x, func(x []float64) float64 { return hill(definition.Space.Decode(x)) })
	view.Self, view.Results = settingsOf(definition).Roster[0], map[string]any{}
	for i := range view.Trials {
		view.Trials[i].Why.Source = strategy.Initial
	}
	if len(x) > 0 {
		strategytest.Fit(t, &view, random.SeedOf(1).Stream("fit", 0))
	}
	return view
}

func suggest(t *testing.T, view strategy.View) strategy.Suggestion {
	t.Helper()
	s, err := New(view.Task).Suggest(t.Context(), view, uint64(len(view.Trials)+1), random.SeedOf(7))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run adds the trial of a suggestion, which has not ended.
func run(view *strategy.View, s strategy.Suggestion) {
	view.Trials = append(slices.Clone(view.Trials), strategy.Trial{ID: uint64(len(view.Trials) + 1), Design: s.Design, Why: s.Why, State: strategy.Running})
}

// A party starts with designs of its own seed, before any batch and though there is one. The
// first is not the centre, which all parties would evaluate.
func TestStartingDesigns(t *testing.T) {
	definition := newTask(t, 3, noMediator, "")
	view := viewOf(t, definition)
	same := search.New(definition).WithoutCentre()
	for trial := range uint64(2) {
		if trial == 1 {
			view.Results[protocol.FairKind] = Round{Number: 1, Design: definition.Space.Decode([]float64{0.5, 0.5}), Parties: 3, Roster: 3}
		}
		got := suggest(t, view)
		want, err := same.Start(view, trial+1, random.SeedOf(7))
		if err != nil {
			t.Fatal(err)
		}
		if got.Why.Source != strategy.Initial || !got.Design.Equal(want.Design) {
			t.Errorf("trial %d: %v (%s), want %v", trial+1, got.Design, got.Why, want.Design)
		}
		run(&view, got)
	}
}

// The design of a batch is taken once, by whichever of several evaluators asks first; the
// others wait for the next batch, and take that.
func TestADesignIsTakenOnce(t *testing.T) {
	definition := newTask(t, 3, noMediator, "")
	view := viewOf(t, definition, []float64{0.1, 0.2}, []float64{0.8, 0.7})
	assigned := definition.Space.Decode([]float64{0.25, 0.5})
	view.Results[protocol.FairKind] = Round{Number: 4, Of: 4, Design: assigned, Parties: 2, Roster: 3}
	first := suggest(t, view)
	if !first.Design.Equal(assigned) || first.Wait.Exchange != "" {
		t.Fatalf("%v, %+v; want the assigned %v", first.Design, first.Wait, assigned)
	}
	why := first.Why
	if why.Source != "assigned" || why.Round != 4 || why.PeerCount != 1 || !why.FromPeers() ||
		why.Phrase != "of the batch of round 4, for 2 parties, 1 without a design" {
		t.Errorf("why: %+v", why)
	}
	run(&view, first)
	for _, state := range []strategy.State{strategy.Running, strategy.Waiting, strategy.Failed, strategy.Done} {
		view.Trials[2].State = state
		if state == strategy.Done {
			view.Trials[2].Outcome = &strategy.Outcome{Value: 1}
		}
		if again := suggest(t, view); again.Wait.Exchange != protocol.FairKind {
			t.Errorf("while its trial is %s: %v (%s)", state, again.Design, again.Why)
		}
	}
	next := definition.Space.Decode([]float64{0.75, 0.5})
	view.Results = map[string]any{protocol.FairKind: Round{Number: 5, Of: 5, Design: next, Parties: 3, Roster: 3}}
	if s := suggest(t, view); !s.Design.Equal(next) || s.Why.Phrase != "of the batch of round 5, for 3 parties" {
		t.Errorf("in the next round: %v (%s)", s.Design, s.Why)
	}
	view.Results = map[string]any{protocol.FairKind: Round{Number: 6, Parties: 2, Roster: 3}}
	if s := suggest(t, view); s.Wait.Exchange != protocol.FairKind {
		t.Errorf("in a round without a design for it: %v", s.Design)
	}
}

// A party waits for a batch: beyond the deadline, and not long for a mediator that is not
// there. Then it goes on alone, with the design that expected improvement has, and says so.
func TestWaitingAndGoingOnAlone(t *testing.T) {
	definition := newTask(t, 3, noMediator, "")
	view := viewOf(t, definition, []float64{0.1, 0.2}, []float64{0.8, 0.7})
	want, err := alone.NewLogEI(definition).Suggest(t.Context(), view, 3, random.SeedOf(7))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		round  any
		wait   time.Duration
		phrase string
	}{
		{nil, 2*100*time.Second + choosing, ", alone, since no batch came"},
		{Round{Roster: 3}, 2*100*time.Second + choosing, ", alone, since no batch came"},
		{Round{Roster: 3, Alone: true}, missing, ", alone, since no batch came: the mediator is not there"},
	} {
		view.Results, view.Waited = map[string]any{}, ""
		if c.round != nil {
			view.Results[protocol.FairKind] = c.round
		}
		if got := suggest(t, view).Wait; got.Exchange != protocol.FairKind || got.For != c.wait {
			t.Errorf("%+v: waits %+v, want %v", c.round, got, c.wait)
		}
		view.Waited = protocol.FairKind
		got := suggest(t, view)
		if got.Wait.Exchange != "" || !got.Design.Equal(want.Design) || got.Why.Round != 0 || got.Why.FromPeers() {
			t.Errorf("%+v: after waiting in vain %v (%s), %+v; want %v", c.round, got.Design, got.Why, got.Wait, want.Design)
		}
		if !strings.HasSuffix(got.Why.Phrase, c.phrase) || len(got.Why.Phrase) == len(c.phrase) {
			t.Errorf("%+v: says %q, want it to end with %q", c.round, got.Why.Phrase, c.phrase)
		}
	}
}
