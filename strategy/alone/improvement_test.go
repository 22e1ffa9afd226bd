package alone_test

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

const file = `
name: hills
goal: minimize
parameters:
  - {name: x, type: float, low: -1, high: 1}
  - {name: y, type: float, low: 0, high: 2}
  - {name: side, type: categorical, choices: [left, right]}
surrogate: {type: %s}
strategy: {type: %s, initial_designs: 4}
`

// valley has its minimum 0 at x = 0.3, y = 1.2 on the right.
func valley(design task.Design) float64 {
	dx, dy := design.Float("x")-0.3, design.Float("y")-1.2
	value := dx*dx + 2*dy*dy
	if design.Choice("side") == "left" {
		value = 0.5 + value/2
	}
	return value
}

// parse returns the task with this surrogate and strategy.
func parse(t *testing.T, kind, name string) *task.Task {
	t.Helper()
	return strategytest.Task(t, all.Strategies(), file, kind, name)
}

// tune runs the strategy and returns what it has seen in the end.
func tune(t *testing.T, definition *task.Task, s strategy.Strategy, seed random.Seed, trials uint64) strategy.View {
	t.Helper()
	model, err := surrogate.New(definition)
	if err != nil {
		t.Fatal(err)
	}
	view := strategy.View{Task: definition}
	var obs surrogate.Observations
	for id := uint64(1); id <= trials; id++ {
		got, err := s.Suggest(t.Context(), view, id, seed)
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Suggest(t.Context(), view, id, seed)
		if err != nil || !again.Design.Equal(got.Design) {
			t.Fatalf("trial %d, asked twice: %v and %v, %v", id, got.Design, again.Design, err)
		}
		if initial := id <= 4; initial != (got.Why.Source == strategy.Initial) {
			t.Fatalf("trial %d comes from %q", id, got.Why.Source)
		}
		value := valley(got.Design)
		view.Trials = append(view.Trials, strategy.Trial{ID: id, Design: got.Design, Why: got.Why, State: strategy.Done, Outcome: &strategy.Outcome{Value: value}})
		obs.X, obs.Y = append(obs.X, definition.Space.Encode(got.Design)), append(obs.Y, -value)
		view.Observations = len(obs.Y)
		h, err := model.Fit(t.Context(), obs, nil, seed.Stream("fit", id))
		if err != nil {
			t.Fatal(err)
		}
		if view.Posterior, err = model.Condition(obs, h, nil); err != nil {
			t.Fatal(err)
		}
	}
	return view
}

// The best of 20 uniform designs is worse than .004 in 98 % of the seeds; of
// three runs with the exact surrogate all must be better. The rff surrogate is
// over-confident and may stay on the wrong side, where the best is 0.5.
func TestLogEIFindsTheValley(t *testing.T) {
	for kind, bound := range map[string]float64{"exact": 0.004, "rff": 0.504} {
		for seed := range uint64(3) {
			definition := parse(t, kind, "logei")
			view := tune(t, definition, alone.NewLogEI(definition), random.SeedOf(seed), 20)
			if best := bestOf(t, view); best > bound {
				t.Errorf("%s, seed %d: best %g", kind, seed, best)
			}
		}
	}
}

// bestOf returns the smallest value of trials that must not repeat a design.
func bestOf(t *testing.T, view strategy.View) float64 {
	t.Helper()
	best, seen := math.Inf(1), map[string]bool{}
	for _, trial := range view.Trials {
		best = min(best, trial.Outcome.Value)
		if seen[trial.Design.Key()] {
			t.Errorf("trial %d repeats a design", trial.ID)
		}
		seen[trial.Design.Key()] = true
	}
	return best
}
