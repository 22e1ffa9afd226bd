package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
)

// patient waits for the first result of an exchange, or for ever.
type patient struct {
	exchange string
	limit    time.Duration
	forEver  bool // whatever comes
	stubborn bool // even after it has waited in vain

	asked  int
	waited string // as the view had it when it was asked last
}

func (p *patient) Suggest(ctx context.Context, view strategy.View, trial uint64, _ random.Seed) (strategy.Suggestion, error) {
	p.asked++
	p.waited = view.Waited
	if wants := p.forEver || view.Results[p.exchange] == nil; wants && (p.stubborn || view.Waited == "") {
		return strategy.Suggestion{Wait: strategy.Wait{Exchange: p.exchange, For: p.limit}}, nil
	}
	return strategy.Suggestion{Design: view.Task.Space.Decode(make([]float64, view.Task.Space.Dim()))}, nil
}

// rounds gives a result whenever it hears something, but for "fail".
type rounds struct{}

func (rounds) Name() string                       { return "rounds" }
func (rounds) Decode(payload []byte) (any, error) { return word(payload), nil }
func (rounds) Step(_ strategy.View, in strategy.Input) []strategy.Output {
	if direct, ok := in.(strategy.Direct); ok && string(direct.Data) == "fail" {
		return []strategy.Output{strategy.Work{Name: "sum", Run: func(context.Context, strategy.View, random.Seed) (any, error) {
			return nil, errors.New("no sum")
		}}}
	} else if ok {
		return []strategy.Output{strategy.Result{Value: direct.Data}, strategy.Send{To: direct.From, Data: direct.Data}}
	}
	return nil
}

// word is a payload whose first byte is its round.
type word []byte

func (w word) Slot() uint64 { return uint64(w[0]) }

// newTalker has the exchange rounds beside those of its task.
func newTalker(t *testing.T) *driver {
	d := newBowl(t)
	d.agent.exchanges.order = append(d.agent.exchanges.order, "rounds")
	d.agent.exchanges.byName["rounds"] = rounds{}
	return d
}

func newPatient(t *testing.T, exchange string) (*driver, *patient) {
	d := newTalker(t)
	p := &patient{exchange: exchange, limit: time.Minute}
	d.agent.strategy = p
	return d, p
}

func TestAStrategyMayWait(t *testing.T) {
	d, p := newPatient(t, "rounds")
	d.agent.Ask(d.now, 1)
	d.carryOut()
	d.agent.Tick(d.now)
	d.carryOut()
	if p.asked != 1 || len(d.answers) != 0 {
		t.Fatalf("before the result: asked %d times, answers %v", p.asked, d.answers)
	}
	d.agent.Direct(d.now, "peer", "rounds", []byte("round 1"))
	if r := d.agent.ready; len(r.Send) != 1 || r.Send[0].To != "peer" || r.Send[0].Exchange != "rounds" {
		t.Errorf("to send: %+v", r.Send)
	}
	d.carryOut()
	if p.asked != 2 || len(d.answers) != 1 {
		t.Errorf("after the result: asked %d times, answers %v", p.asked, d.answers)
	}
}

// Each state of an unanswered request has its reason.
func TestWhatAnAskWaitsFor(t *testing.T) {
	d, _ := newPatient(t, "rounds")
	expect := func(want string) {
		t.Helper()
		if got := d.agent.WaitsFor(); got != want {
			t.Errorf("an Ask waits for %q, expected %q", got, want)
		}
	}
	expect("")
	d.agent.held = true
	d.agent.Ask(d.now, 1)
	expect("the first design waits for the shares of peers")
	d.hold = true
	d.agent.Release(d.now)
	d.carryOut()
	expect("the strategy chooses a design")
	d.finish()
	expect(fmt.Sprintf("the strategy waits for a result of exchange \"rounds\", until %s at most", d.now.Add(time.Minute).UTC().Format(time.RFC3339)))
	if _, err := d.agent.Import(d.now, []Past{{Design: d.agent.cfg.Task.Space.Decode(make([]float64, d.agent.cfg.Task.Space.Dim()))}}); err != nil {
		t.Fatal(err)
	}
	expect("the surrogate learns from 1 outcome")
	d.agent.Cancel(1)
	expect("")
}

// The result may come while the strategy, which has not seen it, decides to
// wait for it.
func TestAResultIsNotMissed(t *testing.T) {
	d, p := newPatient(t, "rounds")
	d.hold = true
	d.agent.Ask(d.now, 1)
	d.carryOut()
	result := d.held[0].Run(t.Context())
	d.agent.Direct(d.now, "peer", "rounds", []byte("round 1"))
	d.carryOut()
	d.agent.Done(d.now, d.held[0].ID, result)
	d.held = nil
	d.carryOut()
	d.finish()
	if p.asked != 2 || len(d.answers) != 1 {
		t.Errorf("asked %d times, answers %v", p.asked, d.answers)
	}
}

// expectAlone wants an answer with a design that was chosen after the strategy failed, and
// one warning that says why it did.
func (d *driver) expectAlone(answer Answer, why string) {
	d.t.Helper()
	if answer.Err != nil || !strings.HasSuffix(answer.Trial.Why.String(), "alone, since the strategy failed") {
		d.t.Errorf("answer %+v", answer)
	}
	failed := slices.DeleteFunc(d.warnings(), func(statements string) bool { return !strings.Contains(statements, "is chosen alone") })
	if len(failed) != 1 || !strings.Contains(failed[0], why) {
		d.t.Errorf("warnings %q, want one that says %q", d.warnings(), why)
	}
}

// Nobody would ever wake a strategy that waits for what the task does not have.
func TestWaitingForNothingIsAFailure(t *testing.T) {
	d, p := newPatient(t, "auction")
	d.agent.Ask(d.now, 1)
	d.carryOut()
	if len(d.answers) != 1 || p.asked != 2 {
		t.Fatalf("asked %d times, answers %v", p.asked, d.answers)
	}
	d.expectAlone(d.answers[0], `"auction"`)
}

// When the time is over the strategy chooses without the result, and the user is
// told why. The next trial may wait anew.
func TestAWaitEnds(t *testing.T) {
	d, p := newPatient(t, "rounds")
	for trial := range 2 {
		d.agent.Ask(d.now, uint64(trial))
		d.carryOut()
		d.pass(time.Minute - 1)
		if len(d.answers) != trial || p.waited != "" {
			t.Fatalf("trial %d, before the time is over: answers %v, waited for %q", trial+1, d.answers, p.waited)
		}
		d.pass(1)
		if len(d.answers) != trial+1 || d.answers[trial].Err != nil || p.waited != "rounds" {
			t.Fatalf("trial %d, when the time is over: answers %v, waited for %q", trial+1, d.answers, p.waited)
		}
	}
	if statements := d.warnings(); len(statements) != 2 || !strings.Contains(statements[0], "rounds: nothing came for 1m0s") {
		t.Errorf("warnings %q", statements)
	}
}

// Who goes on waiting for what it has waited for in vain is chosen for.
func TestWhoWaitsForEverIsRefused(t *testing.T) {
	d, p := newPatient(t, "rounds")
	p.stubborn = true
	d.agent.Ask(d.now, 1)
	d.agent.Ask(d.now, 2)
	d.carryOut()
	for answers := range 2 {
		if len(d.answers) != answers {
			t.Fatalf("after %d minutes: answers %v", answers, d.answers)
		}
		d.pass(time.Minute)
	}
	if len(d.answers) != 2 {
		t.Fatalf("answers %v", d.answers)
	}
	for _, answer := range d.answers {
		d.expectAlone(answer, `waiting for exchange "rounds"`)
	}
}

// Results that do not satisfy a strategy give it no more time.
func TestResultsDoNotProlongAWait(t *testing.T) {
	d, p := newPatient(t, "rounds")
	p.forEver = true
	d.agent.Ask(d.now, 1)
	d.carryOut()
	for range 5 {
		d.pass(11 * time.Second)
		d.agent.Direct(d.now, "peer", "rounds", []byte("round"))
		d.carryOut()
	}
	if len(d.answers) != 0 || p.asked != 6 {
		t.Fatalf("asked %d times, answers %v", p.asked, d.answers)
	}
	d.pass(5 * time.Second)
	if len(d.answers) != 1 || d.answers[0].Err != nil {
		t.Errorf("after a minute: answers %v", d.answers)
	}
}

func TestAFailureEndsAWait(t *testing.T) {
	d, p := newPatient(t, "rounds")
	d.agent.Direct(d.now, "peer", "rounds", []byte("fail")) // nobody waits yet
	d.carryOut()
	d.agent.Ask(d.now, 1)
	d.carryOut()
	if len(d.answers) != 0 || p.waited != "" {
		t.Fatalf("answers %v, waited for %q", d.answers, p.waited)
	}
	d.agent.Direct(d.now, "peer", "rounds", []byte("fail"))
	d.carryOut()
	if len(d.answers) != 1 || d.answers[0].Err != nil || p.waited != "rounds" {
		t.Errorf("answers %v, waited for %q", d.answers, p.waited)
	}
}

func TestAWaitNeedsAnEnd(t *testing.T) {
	d, p := newPatient(t, "rounds")
	p.limit = 0
	d.agent.Ask(d.now, 1)
	d.carryOut()
	if len(d.answers) != 1 || p.asked != 2 {
		t.Fatalf("asked %d times, answers %v", p.asked, d.answers)
	}
	d.expectAlone(d.answers[0], "rounds")
}

// Nobody is woken for a request that was withdrawn, and the next one has the whole
// time.
func TestAWithdrawnRequestWaitsNoMore(t *testing.T) {
	d, _ := newPatient(t, "rounds")
	d.agent.Ask(d.now, 1)
	d.carryOut()
	d.agent.Cancel(1)
	d.pass(time.Hour)
	d.agent.Ask(d.now, 2)
	d.carryOut()
	d.pass(time.Minute - 1)
	if statements := d.warnings(); len(d.answers) != 0 || len(statements) != 0 {
		t.Fatalf("answers %v, warnings %q", d.answers, statements)
	}
	d.pass(1)
	if len(d.answers) != 1 || d.answers[0].Request != 2 {
		t.Errorf("answers %v", d.answers)
	}
}
