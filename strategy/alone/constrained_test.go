package alone_test

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

// discTask wants the design nearest to a corner, in a disc that the corner is not in and
// that covers a seventh of the square. The optimum is on the border.
func discTask(t testing.TB, name string) *task.Task {
	t.Helper()
	return cornerTask(t, name,
		task.Constraint{Output: "radius", Low: math.Inf(-1), High: 0.22}, task.Constraint{Output: "x", Low: 0.1, High: 0.9})
}

// cornerTask is discTask with other constraints.
func cornerTask(t testing.TB, name string, constraints ...task.Constraint) *task.Task {
	t.Helper()
	got, err := all.Strategies().NewTask(task.Spec{
		Name: "disc", Goal: task.Minimize,
		Parameters:  []task.Parameter{{Name: "x", Kind: task.Float, High: 1}, {Name: "y", Kind: task.Float, High: 1}},
		Constraints: constraints,
		Strategy:    task.Strategy{Type: name, InitialDesigns: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func disc(d task.Design) *strategy.Outcome {
	x, y := d.Float("x"), d.Float("y")
	return &strategy.Outcome{Value: (x-0.9)*(x-0.9) + (y-0.1)*(y-0.1), Constraints: map[string]task.Reading{
		"radius": task.Number(math.Hypot(x-0.4, y-0.6)), "x": task.Number(x), "y": task.Number(y),
	}}
}

// searchDisc evaluates so many designs of the disc, and returns the last view.
func searchDisc(t testing.TB, spec *task.Task, s strategy.Strategy, seed random.Seed, trials uint64) strategy.View {
	t.Helper()
	return searchAll(t, spec, s, seed, trials, disc)
}

// searchAll evaluates so many designs, which fail where there is no outcome, and returns
// the last view.
func searchAll(t testing.TB, spec *task.Task, s strategy.Strategy, seed random.Seed, trials uint64, evaluate func(task.Design) *strategy.Outcome) strategy.View {
	t.Helper()
	models := modelsOf(t, spec)
	view := strategy.View{Task: spec}
	for id := uint64(1); id <= trials; id++ {
		got, err := s.Suggest(t.Context(), view, id, seed)
		if err != nil {
			t.Fatal(err)
		}
		if feasible := strategy.Best(spec, view.Trials) != nil; id > 3 && !feasible && got.Why.Source == "ei" {
			t.Errorf("trial %d improves on nothing feasible", id)
		}
		view.Trials = append(view.Trials, strategy.Trial{ID: id, Design: got.Design, Why: got.Why, State: strategy.Done, Outcome: evaluate(got.Design)})
		if last := &view.Trials[id-1]; last.Outcome == nil {
			last.State = strategy.Failed
		}
		learn(t, spec, models, &view, seed)
	}
	return view
}

// modelsOf returns the models of a task's outputs.
func modelsOf(t testing.TB, spec *task.Task) map[task.Output]surrogate.Model {
	t.Helper()
	models := map[task.Output]surrogate.Model{}
	var err error
	if models[task.Objective], err = surrogate.New(spec); err != nil {
		t.Fatal(err)
	}
	for _, c := range spec.Bounds() {
		if models[c.Output], err = surrogate.NewConstraint(spec, c); err != nil {
			t.Fatal(err)
		}
	}
	return models
}

// learn makes the posteriors of a view anew, after its last trial.
func learn(t testing.TB, spec *task.Task, models map[task.Output]surrogate.Model, view *strategy.View, seed random.Seed) {
	t.Helper()
	view.Constraints = nil
	view.Observations = len(strategy.Observed(spec, view.Trials, task.Objective).Y)
	for _, output := range spec.Outputs() {
		obs := strategy.Observed(spec, view.Trials, output)
		if len(obs.Y) == 0 {
			continue
		}
		h, err := models[output].Fit(t.Context(), obs, nil, seed.Stream("fit "+string(output), uint64(len(view.Trials))))
		if err != nil {
			t.Fatal(err)
		}
		p, err := models[output].Condition(obs, h, nil)
		if err != nil {
			t.Fatal(err)
		}
		if output == task.Objective {
			view.Posterior = p
		} else {
			view.Constraints = append(view.Constraints, p.(*surrogate.Constraint))
		}
	}
}

// viewBefore is what was known before a trial of a search with this seed.
func viewBefore(t testing.TB, spec *task.Task, view strategy.View, seed random.Seed, trial uint64) strategy.View {
	t.Helper()
	before := strategy.View{Task: spec, Trials: view.Trials[:trial-1]}
	learn(t, spec, modelsOf(t, spec), &before, seed)
	return before
}

// sixParameters is a task of the benchmark with what is known of it after 50 random
// designs: two constraints, each of which is kept by half of the designs or so.
func sixParameters(t testing.TB, name string) (*task.Task, strategy.View) {
	t.Helper()
	spec := task.Spec{
		Name: "six", Goal: task.Minimize, Strategy: task.Strategy{Type: name},
		Constraints: []task.Constraint{{Output: "first", Low: math.Inf(-1), High: 1.5}, {Output: "wave", Low: -0.5, High: 0.5}},
	}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		spec.Parameters = append(spec.Parameters, task.Parameter{Name: name, Kind: task.Float, High: 1})
	}
	got, err := all.Strategies().NewTask(spec)
	if err != nil {
		t.Fatal(err)
	}
	view, seed := strategy.View{Task: got}, random.SeedOf(1)
	for id := range uint64(50) {
		x := acquisition.Sample(got.Space, seed.Stream("designs", id))
		bowl := 0.0
		for _, u := range x {
			bowl += (u - 0.3) * (u - 0.3)
		}
		view.Trials = append(view.Trials, strategy.Trial{ID: id + 1, Design: got.Space.Decode(x), State: strategy.Done, Outcome: &strategy.Outcome{
			Value:       bowl,
			Constraints: map[string]task.Reading{"first": task.Number(x[0] + x[1] + x[2]), "wave": task.Number(math.Sin(4 * (x[3] + x[4])))},
		}})
	}
	learn(t, got, modelsOf(t, got), &view, seed)
	return got, view
}

func TestConstrainedSearch(t *testing.T) { checkConstrainedSearch(t, 1) }

// checkConstrainedSearch runs each strategy with that many seeds. Of 25 designs the best feasible
// one is near the optimum. A random search of 25 designs reaches that in one of a hundred cases.
func checkConstrainedSearch(t *testing.T, seeds uint64) {
	optimum := math.Pow(math.Hypot(0.5, 0.5)-0.22, 2)
	for name, make := range map[string]func(*task.Task) strategy.Strategy{
		"logei": func(t *task.Task) strategy.Strategy { return alone.NewLogEI(t) },
		"mes":   func(t *task.Task) strategy.Strategy { return alone.NewMES(t) },
		"ts":    func(t *task.Task) strategy.Strategy { return alone.NewTS(t) },
		"alone": func(t *task.Task) strategy.Strategy { return alone.NewEngine(t) },
	} {
		for seed := range seeds {
			spec := discTask(t, name)
			view := searchDisc(t, spec, make(spec), random.SeedOf(seed), 25)
			best := strategy.Best(spec, view.Trials)
			if best == nil || best.Outcome.Value > optimum+0.006 {
				t.Errorf("%s, seed %d: best %+v, optimum %g", name, seed, best, optimum)
			}
		}
	}
}

// While nothing is feasible only feasibility counts, whatever the objective promises.
func TestFeasibilityFirst(t *testing.T) {
	spec := discTask(t, "logei")
	for seed := range uint64(20) {
		view := searchDisc(t, spec, alone.NewLogEI(spec).WithoutCentre(), random.SeedOf(seed), 3) // the centre is feasible
		if strategy.Best(spec, view.Trials) != nil {
			continue
		}
		var designs []task.Design
		for name, s := range map[string]strategy.Strategy{"logei": alone.NewLogEI(spec), "alone": alone.NewEngine(spec)} {
			got, err := s.Suggest(t.Context(), view, 4, random.SeedOf(seed))
			if err != nil || got.Why.Source != "feasibility" {
				t.Fatalf("%s, seed %d: %+v, %v", name, seed, got, err)
			}
			designs = append(designs, got.Design)
		}
		if !designs[0].Equal(designs[1]) {
			t.Errorf("seed %d: designs %v of one probability", seed, designs)
		}
		return
	}
	t.Error("every start is feasible: nothing was tested")
}
