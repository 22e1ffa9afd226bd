package alone_test

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// What is maximised is small at a design that runs or waits, whose value was the largest. The
// model changes nowhere else by it than in its variance.
func TestPendingDesignsAreKnown(t *testing.T) {
	for _, kind := range []string{"exact", "rff"} {
		definition := parse(t, kind, "alone")
		engine, logEI := alone.NewEngine(definition), alone.NewLogEI(definition)
		view := tune(t, definition, engine, random.SeedOf(1), 6)
		improvement := func(score func(strategy.View) acquisition.Function) {
			t.Helper()
			got, err := logEI.Suggest(t.Context(), view, 7, random.SeedOf(1))
			if err != nil {
				t.Fatal(err)
			}
			for _, state := range []strategy.State{strategy.Running, strategy.Waiting} {
				running := view
				running.Trials = append(view.Trials[:6:6], strategy.Trial{ID: 7, Design: got.Design, State: state})
				x := definition.Space.Encode(got.Design)
				free, busy := score(view).Value(x), score(running).Value(x)
				if !(busy < free-1) {
					t.Errorf("%s, %s: logarithm of the score %g, without the trial %g", kind, state, busy, free)
				}
			}
		}
		improvement(func(v strategy.View) acquisition.Function { f, _ := logEI.Score(v); return f })
		improvement(func(v strategy.View) acquisition.Function {
			f, _, err := engine.Improvement(t.Context(), v, 7, random.SeedOf(1))
			if err != nil {
				t.Fatal(err)
			}
			return f
		})
		improvement(func(v strategy.View) acquisition.Function {
			f, _, err := engine.Information(t.Context(), v, 7, random.SeedOf(1))
			if err != nil {
				t.Fatal(err)
			}
			return f
		})
	}
}

// Eight designs that are asked for at once: each is where the model still knows little, given
// those that run. The strategies of package alone find them so, whatever they maximise.
func TestBatchOfEightSpreads(t *testing.T) {
	definition := parse(t, "exact", "alone")
	known := tune(t, definition, alone.NewEngine(definition), random.SeedOf(2), 8)
	for name, s := range map[string]strategy.Strategy{
		"alone": alone.NewEngine(definition), "logei": alone.NewLogEI(definition), "mes": alone.NewMES(definition), "ucb": alone.NewUCB(definition),
	} {
		view := known
		for id := uint64(9); id <= 16; id++ {
			got, err := s.Suggest(t.Context(), view, id, random.SeedOf(2))
			if err != nil {
				t.Fatal(err)
			}
			_, without := known.Posterior.Predict(definition.Space.Encode(got.Design))
			_, left := search.New(definition).WithPending(view).Posterior.Predict(definition.Space.Encode(got.Design))
			if left < without/50 {
				t.Errorf("%s, trial %d: variance %g given the running designs, %g without", name, id, left, without)
			}
			view.Trials = append(view.Trials[:id-1:id-1], strategy.Trial{ID: id, Design: got.Design, State: strategy.Running})
		}
	}
}

// Eight designs that are asked for at once while nothing feasible is known do not crowd around the
// most probable one.
func TestABatchSpreadsWhileNothingIsFeasible(t *testing.T) {
	spec := cornerTask(t, "alone", task.Constraint{Output: "radius", Low: math.Inf(-1), High: 0.1})
	engine := alone.NewEngine(spec)
	for seed := range uint64(3) {
		view := searchDisc(t, spec, engine, random.SeedOf(seed), 3)
		if strategy.Best(spec, view.Trials) != nil {
			t.Fatalf("seed %d: expected starting designs of which none is feasible", seed)
		}
		near := 0
		for id := uint64(4); id <= 11; id++ {
			got, err := engine.Suggest(t.Context(), view, id, random.SeedOf(seed))
			if err != nil {
				t.Fatal(err)
			}
			x := spec.Space.Encode(got.Design)
			for _, trial := range view.Trials {
				if other := spec.Space.Encode(trial.Design); math.Hypot(x[0]-other[0], x[1]-other[1]) < 0.05 {
					near++
					break
				}
			}
			view.Trials = append(view.Trials, strategy.Trial{ID: id, Design: got.Design, State: strategy.Running})
		}
		if near > 2 {
			t.Errorf("seed %d: %d of 8 designs lie within 0.05 of another one, expected at most 2", seed, near)
		}
	}
}
