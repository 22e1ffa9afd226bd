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

// severalView returns the view of an agent that minimises the squared distances to .2 and to .8, with
// these keys of the task file added, after evaluations at x.
func severalView(t *testing.T, keys string, x ...float64) strategy.View {
	t.Helper()
	of, err := all.Strategies().Parse("test", []byte("name: several\nobjectives: [{name: a, goal: minimize}, {name: b, goal: minimize}]\n"+
		"parameters: [{name: x, type: float, low: 0, high: 1}]\nstrategy: {type: alone}\n"+keys))
	if err != nil {
		t.Fatal(err)
	}
	view := strategy.View{Task: of, Observations: len(x)}
	for i, at := range x {
		outcome := &strategy.Outcome{Value: (at - .2) * (at - .2), Metrics: map[string]float64{"b": (at - .8) * (at - .8)}}
		if len(of.Constraints) > 0 {
			outcome.Constraints = map[string]task.Reading{"c": task.Number(at)}
		}
		view.Trials = append(view.Trials, strategy.Trial{ID: uint64(i + 1), Design: of.Space.Decode([]float64{at}), State: strategy.Done, Outcome: outcome})
	}
	strategytest.ConditionObjectives(t, &view)
	for _, c := range of.Constraints {
		model, err := surrogate.NewConstraint(of, c)
		if err != nil {
			t.Fatal(err)
		}
		p, err := model.Condition(strategy.Observed(of, view.Trials, c.Output), surrogate.Hyperparameters{Lengthscales: []float64{0.5}, Noise: 1e-4}, nil)
		if err != nil {
			t.Fatal(err)
		}
		view.Constraints = append(view.Constraints, p.(*surrogate.Constraint))
	}
	return view
}

// TestVolumeSeeksTheGap: all designs from .2 to .8 are on the front. The next one lies where the front has
// its largest gap, not at the optimum of one objective.
func TestVolumeSeeksTheGap(t *testing.T) {
	for _, c := range []struct {
		x         []float64
		low, high float64
	}{
		{[]float64{0, 0.2, 0.25, 0.3, 0.35, 0.4, 1}, 0.45, 0.8},
		{[]float64{0, 0.6, 0.65, 0.7, 0.75, 0.8, 1}, 0.2, 0.55},
	} {
		view := severalView(t, "", c.x...)
		got, err := alone.NewEngine(view.Task).Suggest(t.Context(), view, uint64(len(view.Trials)+1), random.SeedOf(1))
		if err != nil {
			t.Fatal(err)
		}
		if at := got.Design.Value("x").Float(); got.Why.Source != "ehvi" || at < c.low || at > c.high {
			t.Errorf("after %g: %v by %q, expected x from %g to %g", c.x, got.Design, got.Why.Source, c.low, c.high)
		}
	}
}

// TestVolumeMindsConstraintsAndPendingDesigns: no design is likely infeasible, and none is near the
// pending one.
func TestVolumeMindsConstraintsAndPendingDesigns(t *testing.T) {
	view := severalView(t, "constraints: [{name: c, high: 0.5}]\n", 0, 1, 0.2, 0.45, 0.9)
	first, err := alone.NewEngine(view.Task).Suggest(t.Context(), view, 6, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	at := first.Design.Value("x").Float()
	if at > 0.55 {
		t.Errorf("%v, expected at most the limit", first.Design)
	}
	view.Trials = append(view.Trials, strategy.Trial{ID: 6, Design: first.Design, State: strategy.Running})
	second, err := alone.NewEngine(view.Task).Suggest(t.Context(), view, 7, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	if again := second.Design.Value("x").Float(); math.Abs(again-at) < 0.01 {
		t.Errorf("%v is pending, and %v follows; expected another design", first.Design, second.Design)
	}
}

// TestVolumeWithoutAFeasibleDesign: the probability of feasibility decides until a design is feasible.
func TestVolumeWithoutAFeasibleDesign(t *testing.T) {
	view := severalView(t, "constraints: [{name: c, high: -0.1}]\n", 0.3, 0.6, 0.9)
	got, err := alone.NewEngine(view.Task).Suggest(t.Context(), view, 4, random.SeedOf(1))
	if err != nil || got.Why.Source != "feasibility" {
		t.Errorf("%v by %q (%v), expected the source feasibility", got.Design, got.Why.Source, err)
	}
}

// TestParEGODrawsWeights: other trials have other scalarisations, and the same trial the same.
func TestParEGODrawsWeights(t *testing.T) {
	view := severalView(t, "", 0, 1, 0.3, 0.5)
	s := alone.NewParEGO(view.Task)
	designs := map[string]bool{}
	for range 2 {
		for trial := range uint64(6) {
			got, err := s.Suggest(t.Context(), view, 5+trial, random.SeedOf(1))
			if err != nil || got.Why.Source != "parego" {
				t.Fatalf("%v by %q (%v)", got.Design, got.Why.Source, err)
			}
			designs[got.Design.Key()] = true
		}
	}
	if len(designs) < 3 || len(designs) > 6 {
		t.Errorf("6 trials, each twice, have %d designs; expected 3 to 6", len(designs))
	}
}
