package alone_test

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

// pricedView is a view of a symmetric function of x whose cost grows with x by the factor exp(k·x), and
// does not depend on y.
func pricedView(t *testing.T, spec *task.Task, k float64) strategy.View {
	t.Helper()
	view, seed := strategy.View{Task: spec}, random.SeedOf(1)
	for i, at := range [][]float64{{0.5, 0.5}, {0.1, 0.2}, {0.9, 0.2}, {0.1, 0.8}, {0.9, 0.8}, {0.3, 0.4}, {0.7, 0.4}} {
		value := math.Pow(math.Abs(at[0]-0.5)-0.25, 2) + (at[1]-0.5)*(at[1]-0.5)
		view.Trials = append(view.Trials, strategy.Trial{
			ID: uint64(i + 1), Design: spec.Space.Decode(at), State: strategy.Done,
			Outcome: &strategy.Outcome{Value: value}, Cost: new(5 * math.Exp(k*at[0])),
		})
	}
	learn(t, spec, modelsOf(t, spec), &view, seed)
	model, err := surrogate.NewCost(spec)
	if err != nil {
		t.Fatal(err)
	}
	obs := strategy.Observed(spec, view.Trials, task.Cost)
	h, err := model.Fit(t.Context(), obs, nil, seed.Stream("fit cost", 0))
	if err != nil {
		t.Fatal(err)
	}
	if view.Cost, err = model.Condition(obs, h, nil); err != nil {
		t.Fatal(err)
	}
	return view
}

func pricedTask(t *testing.T, settings task.StrategySettings) *task.Task {
	t.Helper()
	spec, err := all.Strategies().NewTask(task.Spec{
		Name: "priced", Goal: task.Minimize, Strategy: task.Strategy{Type: "logei", InitialDesigns: 5, Settings: settings},
		Parameters: []task.Parameter{{Name: "x", Kind: task.Float, High: 1}, {Name: "y", Kind: task.Float, High: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestImprovementPerCost: of two equally good regions the cheaper one is chosen, whichever it is.
// Without enough costs, or without the key, the design is that of expected improvement.
func TestImprovementPerCost(t *testing.T) {
	plain, priced := pricedTask(t, nil), pricedTask(t, alone.LogEISettings{PerCost: true})
	if plain.ID() == priced.ID() {
		t.Error("the key does not change the ID")
	}
	suggest := func(spec *task.Task, view strategy.View) strategy.Suggestion {
		t.Helper()
		view.Task = spec
		got, err := alone.NewLogEI(spec).Suggest(t.Context(), view, 8, random.SeedOf(7))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, k := range []float64{4, -4} {
		view := pricedView(t, priced, k)
		want := suggest(plain, view)
		got := suggest(priced, view)
		if cheap := (got.Design.Float("x")-0.5)*k < 0; !cheap || got.Why.Phrase != "expected improvement per cost" {
			t.Errorf("cost exp(%g x): %v, %+v", k, got.Design, got.Why)
		}
		none := view
		none.Cost = nil
		few := view
		few.Trials = append([]strategy.Trial(nil), view.Trials...)
		for i := range 3 {
			few.Trials[i].Cost = nil
		}
		for _, view := range []strategy.View{none, few} {
			if got := suggest(priced, view); !got.Design.Equal(want.Design) || got.Why != want.Why {
				t.Errorf("without enough costs: %v, %+v; expected %v, %+v", got.Design, got.Why, want.Design, want.Why)
			}
		}
	}
	if got := suggest(priced, pricedView(t, priced, 0)); !got.Design.Equal(suggest(plain, pricedView(t, priced, 0)).Design) {
		t.Errorf("equal costs change the design to %v", got.Design)
	}
}

// TestLogCosts: zero costs have a floor, and only whole evaluations count.
func TestLogCosts(t *testing.T) {
	done := func(cost float64) strategy.Trial { return strategy.Trial{State: strategy.Done, Cost: &cost} }
	trials := []strategy.Trial{done(0), done(3), {State: strategy.StoppedEarly, Cost: new(1.0)}, {State: strategy.Failed, Cost: new(1.0)}, {State: strategy.Done}, {State: strategy.Running, Cost: new(1.0)}}
	got := strategy.LogCosts(trials)
	for i, want := range []float64{math.Log(1.5e-3), math.Log(3), math.NaN(), math.NaN(), math.NaN(), math.NaN()} {
		if got[i] != want && !(math.IsNaN(want) && math.IsNaN(got[i])) {
			t.Errorf("trial %d: %g, expected %g", i+1, got[i], want)
		}
	}
	if got := strategy.LogCosts([]strategy.Trial{done(0), done(0)}); got[0] != 0 || got[1] != 0 {
		t.Errorf("zero costs: %v", got)
	}
	if got := strategy.LogCosts([]strategy.Trial{done(math.MaxFloat64), done(math.MaxFloat64)}); math.IsInf(got[0], 0) {
		t.Errorf("huge costs: %v", got)
	}
}
