package agent

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// failing is a strategy that fails in one way, always or only when it sees what peers share.
type failing struct {
	search.Search
	fail   func() (strategy.Suggestion, error)
	always bool
}

func (f failing) Suggest(_ context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if f.always || len(view.Shares) > 0 {
		return f.fail()
	}
	return f.Start(view, trial, seed)
}

// failures are all ways in which a strategy can fail, with what the user is told.
func failures(t *testing.T) map[string]func() (strategy.Suggestion, error) {
	other, nan := newTask(t, "coin", "type: ts"), math.NaN()
	return map[string]func() (strategy.Suggestion, error){
		"no luck":        func() (strategy.Suggestion, error) { return strategy.Suggestion{}, errors.New("no luck") },
		"panicked: boom": func() (strategy.Suggestion, error) { panic("boom") },
		"design":         func() (strategy.Suggestion, error) { return strategy.Suggestion{}, nil },
		"space": func() (strategy.Suggestion, error) {
			return strategy.Suggestion{Design: other.Space.Decode(make([]float64, other.Space.Dim()))}, nil
		},
		"chance NaN": func() (strategy.Suggestion, error) {
			return strategy.Suggestion{Why: strategy.Why{OwnProbability: &nan}}, nil
		},
		`exchange "weights"`:     func() (strategy.Suggestion, error) { return wait("weights", 0), nil },
		`exchange "none of all"`: func() (strategy.Suggestion, error) { return wait("none of all", time.Minute), nil },
	}
}

func wait(exchange string, limit time.Duration) strategy.Suggestion {
	return strategy.Suggestion{Wait: strategy.Wait{Exchange: exchange, For: limit}}
}

// Whatever goes wrong with a strategy costs what peers say, for that trial: it chooses
// again with nobody there, and where it fails again the engine of package alone does. There
// is a design each time, which stays over restarts, and one warning.
func TestNoFailureOfAStrategyEndsARun(t *testing.T) {
	spec, err := all.Strategies().Parse("line", []byte(`
name: line
goal: minimize
parameters:
  - {name: x, type: float, low: 0, high: 20}
surrogate: {type: exact, features: 16}
strategy: {type: fts, initial_designs: 2}`))
	if err != nil {
		t.Fatal(err)
	}
	for says, fail := range failures(t) {
		for _, always := range []bool{false, true} {
			cfg := configOf(t, spec, 1)
			cfg.Strategy = failing{search.New(cfg.Task), fail, always}
			d := newDriver(t, cfg)
			payload, err := protocol.Weights{Observations: 5, Values: make([]float64, cfg.Task.Surrogate.Features)}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if v := d.receive(say(t, d, fbotest.Key(t, 9), "weights", 0, protocol.Stamp{Epoch: 1, Sequence: 1}, time.Hour, payload)); v != Accepted {
				t.Fatalf("the share of a peer: %v", v)
			}
			d.run(4, func(x task.Design) float64 { return math.Pow(x.Float("x")-7, 2) })
			for _, trial := range d.agent.Trials() {
				text := trial.Why.String()
				if !strings.HasSuffix(text, "alone, since the strategy failed") || trial.Why.FromPeers() || checkInSpace(cfg.Task, trial.Design) != nil {
					t.Errorf("%s, always %t: trial %d: %v, %s", says, always, trial.ID, trial.Design, text)
				}
				if source := trial.Why.Source; !always && source != strategy.Initial || always && trial.ID > 2 && source == strategy.Initial {
					t.Errorf("%s, always %t: the source of trial %d is %s", says, always, trial.ID, source)
				}
			}
			if statements := d.warnings(); len(statements) != 1 || !strings.Contains(statements[0], says) || !strings.Contains(statements[0], "trial 1 is chosen alone") {
				t.Errorf("%s, always %t: warnings %q", says, always, statements)
			}
			before := show(d.agent.Trials())
			d.start()
			if after := show(d.agent.Trials()); after != before {
				t.Errorf("%s, always %t: after a restart %s, before %s", says, always, after, before)
			}
		}
	}
}

// When every design has failed there is none to fall back to, which whoever asks is told.
func TestWhenEveryDesignHasFailed(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "coin", "type: ts, initial_designs: 1"), 1))
	for range 2 {
		if err := d.agent.Fail(d.now, d.ask().ID, "out of luck"); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
	}
	for request := range uint64(2) {
		d.agent.Ask(d.now, 100+request)
		d.carryOut()
		if answer := d.answers[len(d.answers)-1]; answer.Request != 100+request || answer.Err == nil || !strings.Contains(answer.Err.Error(), "every design") {
			t.Errorf("answer %+v", answer)
		}
	}
}

// A peer's mean that is valid, and beyond all bounds beside the own outcomes, ends nothing.
func TestAHugeMeanBesideTinyOutcomes(t *testing.T) {
	spec := newTask(t, "bowl", "type: peer-prior, share: exact, initial_designs: 2")
	for _, level := range []float64{protocol.MaxUnit, -protocol.MaxUnit} {
		for _, scale := range []float64{protocol.MaxUnit, 1, math.SmallestNonzeroFloat64} {
			d := newDriver(t, configOf(t, spec, 1))
			values := make([]float64, spec.Surrogate.Features)
			for i := range values {
				values[i] = protocol.MaxWeight
			}
			payload, err := protocol.Mean{Observations: 5, Explained: 1, Level: level, Scale: scale, Values: values, ExplainedWeights: values}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			d.run(1, func(x task.Design) float64 { return 1e-208 * bowl(x) })
			share := say(t, d, fbotest.Key(t, 9), protocol.MeanKind, slotOf(t, d, protocol.MeanKind, payload), protocol.Stamp{Epoch: 1, Sequence: 1}, time.Hour, payload)
			if v := d.receive(share); v != Accepted {
				t.Fatalf("the mean: %v", v)
			}
			d.run(5, func(x task.Design) float64 { return 1e-208 * bowl(x) })
			for _, trial := range d.agent.Trials() {
				if err := checkInSpace(spec, trial.Design); err != nil {
					t.Error(err)
				}
			}
			d.start()
		}
	}
}
