package alone_test

import (
	"context"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// strategies that take constraints and listen to nobody.
func constrainedAlone() map[string]func(*task.Task) strategy.Strategy {
	return map[string]func(*task.Task) strategy.Strategy{
		"logei": func(t *task.Task) strategy.Strategy { return alone.NewLogEI(t) },
		"ts":    func(t *task.Task) strategy.Strategy { return alone.NewTS(t) },
		"alone": func(t *task.Task) strategy.Strategy { return alone.NewEngine(t) },
	}
}

// squareTask is the disc's without its constraints.
func squareTask(t *testing.T, name string, spec task.Spec) *task.Task {
	t.Helper()
	spec.Name, spec.Goal = "disc", task.Minimize
	spec.Parameters = []task.Parameter{{Name: "x", Kind: task.Float, High: 1}, {Name: "y", Kind: task.Float, High: 1}}
	spec.Strategy = task.Strategy{Type: name, InitialDesigns: 3}
	got, err := all.Strategies().NewTask(spec)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func inDisc(d task.Design) bool { return math.Hypot(d.Float("x")-0.4, d.Float("y")-0.6) <= 0.22 }

// The constraint has the values true and false alone. Of 30 designs the best feasible one is within
// .05 of the optimum, which a random search of 30 reaches in one of eight cases. The recommended
// design is feasible.
func TestSearchByTruth(t *testing.T) { checkSearchByTruth(t, 1) }

func checkSearchByTruth(t *testing.T, seeds uint64) {
	optimum := math.Pow(math.Hypot(0.5, 0.5)-0.22, 2)
	for name, make := range constrainedAlone() {
		for seed := range seeds {
			spec := squareTask(t, name, task.Spec{Constraints: []task.Constraint{task.TruthOf("inside")}})
			view := searchAll(t, spec, scattered{make(spec), search.New(spec).WithoutCentre()}, random.SeedOf(seed), 30, func(d task.Design) *strategy.Outcome {
				outcome := disc(d)
				outcome.Constraints = map[string]task.Reading{"inside": task.Truth(inDisc(d))}
				return outcome
			})
			best := strategy.Best(spec, view.Trials)
			if best == nil || best.Outcome.Value > optimum+0.05 {
				t.Errorf("%s, seed %d: best %+v, optimum %g", name, seed, best, optimum)
				continue
			}
			recommended := search.New(spec).Recommend(t.Context(), view, random.SeedOf(seed))
			if value := disc(recommended).Value; !inDisc(recommended) || value > best.Outcome.Value+0.02 {
				t.Errorf("%s, seed %d: %v is recommended, inside %v, value %g; best %g", name, seed, recommended, inDisc(recommended), value, best.Outcome.Value)
			}
		}
	}
}

// scattered is a strategy whose starting designs are all random. The centre of the disc has an
// outcome, and few designs that fail would be known.
type scattered struct {
	strategy.Strategy
	search search.Search
}

func (s scattered) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		return s.search.Start(view, trial, seed)
	}
	return s.Strategy.Suggest(ctx, view, trial, seed)
}

func TestFailuresAreAvoided(t *testing.T) { checkFailures(t, 1, "logei", "alone") }

// checkFailures evaluates designs of which those outside of the disc fail. If failures count, at
// least a sixth fewer designs after the tenth fail, and at most three quarters of them: the optimum
// is near the border of the disc. If they do not count, the corner outside keeps attracting
// designs.
func checkFailures(t *testing.T, seeds int, strategies ...string) {
	failures := func(name string, make func(*task.Task) strategy.Strategy, count bool, seed uint64) (after int) {
		failures := task.IgnoreFailures
		if count {
			failures = task.ConstrainFailures
		}
		spec := squareTask(t, name, task.Spec{Failures: failures})
		view := searchAll(t, spec, scattered{make(spec), search.New(spec).WithoutCentre()}, random.SeedOf(seed), 30, func(d task.Design) *strategy.Outcome {
			if !inDisc(d) {
				return nil
			}
			return &strategy.Outcome{Value: disc(d).Value}
		})
		for _, trial := range view.Trials[10:] {
			if trial.State == strategy.Failed {
				after++
			}
		}
		return after
	}
	for _, name := range strategies {
		make, counting, ignoring := constrainedAlone()[name], 0, 0
		for seed := range uint64(seeds) {
			counting += failures(name, make, true, seed)
			ignoring += failures(name, make, false, seed)
		}
		t.Logf("%s: %d of %d fail if failures count, %d if not", name, counting, 20*seeds, ignoring)
		if counting > 15*seeds || 3*ignoring < 3*counting+10*seeds {
			t.Errorf("%s: %d of %d fail if failures count, %d if not; expected at most %d, and %d more", name, counting, 20*seeds, ignoring, 15*seeds, (10*seeds+2)/3)
		}
	}
}
