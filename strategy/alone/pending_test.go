package alone_test

import (
	"testing"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
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
func TestABatchSpreads(t *testing.T) {
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
