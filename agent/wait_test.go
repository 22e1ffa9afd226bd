package agent

import (
	"context"
	"testing"

	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
)

// patient waits for the first result of an exchange.
type patient struct {
	exchange string
	asked    int
}

func (p *patient) Suggest(ctx context.Context, view strategy.View, trial uint64, _ random.Seed) (strategy.Suggestion, error) {
	p.asked++
	if view.Results[p.exchange] == nil {
		return strategy.Suggestion{Wait: p.exchange}, nil
	}
	return strategy.Suggestion{Design: view.Task.Space.Decode(make([]float64, view.Task.Space.Dim()))}, nil
}

// rounds gives a result whenever it hears something.
type rounds struct{}

func (rounds) Name() string                       { return "rounds" }
func (rounds) Decode(payload []byte) (any, error) { return payload, nil }
func (rounds) Step(_ strategy.View, in strategy.Input) []strategy.Output {
	if direct, ok := in.(strategy.Direct); ok {
		return []strategy.Output{strategy.Result{Value: direct.Data}, strategy.Send{To: direct.From, Data: direct.Data}}
	}
	return nil
}

func newPatient(t *testing.T, exchange string) (*driver, *patient) {
	d := newBowl(t)
	p := &patient{exchange: exchange}
	d.agent.strategy = p
	d.agent.exchanges.order = append(d.agent.exchanges.order, "rounds")
	d.agent.exchanges.byName["rounds"] = rounds{}
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

// Nobody would ever wake a strategy that waits for what the task does not have.
func TestWaitingForNothingIsAnError(t *testing.T) {
	d, _ := newPatient(t, "auction")
	d.agent.Ask(d.now, 1)
	d.carryOut()
	if len(d.answers) != 1 || d.answers[0].Err == nil {
		t.Errorf("answers %v", d.answers)
	}
}
