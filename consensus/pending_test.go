package consensus

import (
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// A candidate is published, so it rests on outcomes: it is the same while designs are evaluated,
// even one that is the candidate itself.
func TestPendingTrialsChangeNoCandidate(t *testing.T) {
	for _, acquisition := range []string{"logei", "ucb", "ts"} {
		definition := strategytest.Task(t, strategy.Set{Register()}, `
name: valley
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}]
surrogate: {features: 32}
strategy: {type: consensus, initial_designs: 3, acquisition: %s}`, acquisition)
		view := strategytest.View(definition, [][]float64{{0.1, 0.9}, {0.4, 0.4}, {0.8, 0.2}, {0.6, 0.7}}, func(x []float64) float64 { return x[0]*x[0] - x[1] })
		strategytest.Condition(t, &view, 1e-3)
		talk, err := newCandidateExchange(definition)
		if err != nil {
			t.Fatal(err)
		}
		candidate := func(view strategy.View) protocol.Candidate {
			got, err := talk.work(2).Run(t.Context(), view, random.SeedOf(1))
			if err != nil {
				t.Fatal(err)
			}
			return got.(protocol.Candidate)
		}
		want := candidate(view)
		for _, state := range []strategy.State{strategy.Running, strategy.Waiting} {
			busy := view
			own, err := talk.own.Suggest(t.Context(), view, 5, random.SeedOf(1))
			if err != nil {
				t.Fatal(err)
			}
			busy.Trials = append(view.Trials[:4:4], strategy.Trial{ID: 5, Design: own.Design, State: state})
			if got := candidate(busy); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: a trial that is %s makes the candidate %+v of %+v", acquisition, state, got, want)
			}
			if len(busy.Trials) != 5 {
				t.Error("the view has lost a trial")
			}
		}
	}
}
