package alone_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
)

func regretBound(t *testing.T, view strategy.View) float64 {
	t.Helper()
	bound, err := alone.RegretBound(t.Context(), view, random.SeedOf(4))
	if err != nil {
		t.Fatal(err)
	}
	return bound
}

// While the engine finds the bottom of a valley, whose values it sees without noise, the
// bound is above what the best design lacks of it, whose value is 0, and comes down.
func TestRegretBoundIsAboveTheRegret(t *testing.T) {
	for _, kind := range []string{"exact", "rff"} {
		definition := parse(t, kind, "alone")
		first := 0.0
		for _, trials := range []uint64{6, 12, 25} {
			view := tune(t, definition, alone.NewEngine(definition), random.SeedOf(7), trials)
			bound, regret := regretBound(t, view), bestOf(t, view)
			if bound < regret {
				t.Errorf("%s, %d trials: the bound is %g, the regret %g", kind, trials, bound, regret)
			}
			if trials == 6 {
				first = bound
			}
			if most := map[string]float64{"exact": first / 4, "rff": first / 1.5}[kind]; trials == 25 && bound > most {
				t.Errorf("%s: the bound is %g after 6 trials and still %g after 25", kind, first, bound)
			}
			if again := regretBound(t, view); again != bound {
				t.Errorf("%s: %g and, for the same view and seed, %g", kind, bound, again)
			}
		}
	}
}

// withPosterior returns the view whose trials have other values, as a surrogate sees it.
func withPosterior(t *testing.T, view strategy.View, value func(float64) float64) strategy.View {
	t.Helper()
	trials := make([]strategy.Trial, len(view.Trials))
	for i, trial := range view.Trials {
		trials[i] = trial
		trials[i].Outcome = &strategy.Outcome{Value: value(trial.Outcome.Value)}
	}
	view.Trials = trials
	model, err := surrogate.New(view.Task)
	if err != nil {
		t.Fatal(err)
	}
	observed := strategy.Observed(view.Task, trials, "")
	h, err := model.Fit(t.Context(), observed, nil, random.SeedOf(1).Stream("fit", 0))
	if err != nil {
		t.Fatal(err)
	}
	if view.Posterior, err = model.Condition(observed, h, nil); err != nil {
		t.Fatal(err)
	}
	return view
}

// The bound is in the units of the objective: a thousand times for values a thousand
// times as large, and the same for values that lie elsewhere.
func TestRegretBoundHasTheUnitsOfTheObjective(t *testing.T) {
	definition := parse(t, "exact", "alone")
	view := tune(t, definition, alone.NewEngine(definition), random.SeedOf(7), 10)
	same := regretBound(t, withPosterior(t, view, func(v float64) float64 { return v }))
	for name, c := range map[string]struct {
		value func(float64) float64
		times float64
	}{
		"larger":    {func(v float64) float64 { return 1000 * v }, 1000},
		"elsewhere": {func(v float64) float64 { return v + 8 }, 1},
	} {
		if got := regretBound(t, withPosterior(t, view, c.value)); math.Abs(got/(c.times*same)-1) > 0.02 {
			t.Errorf("%s: the bound is %g, want %g", name, got, c.times*same)
		}
	}
}

// Where nothing is known, or all outcomes are the same, there is no bound; and it ends with
// its context.
func TestNoRegretBound(t *testing.T) {
	definition := parse(t, "exact", "alone")
	if bound := regretBound(t, strategy.View{Task: definition}); !math.IsInf(bound, 1) {
		t.Errorf("with nothing known the bound is %g", bound)
	}
	view := tune(t, definition, alone.NewEngine(definition), random.SeedOf(7), 6)
	if bound := regretBound(t, withPosterior(t, view, func(float64) float64 { return 3 })); !math.IsInf(bound, 1) {
		t.Errorf("of outcomes that do not differ the bound is %g", bound)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := alone.RegretBound(ended, view, random.SeedOf(4)); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}
