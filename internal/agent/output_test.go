package agent

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// bound returns a task that also bounds memory.
func bound(spec *task.Task, memory float64) *task.Task {
	bounded := *spec
	bounded.Constraints = []task.Constraint{{Output: "memory", Low: math.Inf(-1), High: memory}}
	return &bounded
}

func memoryOf(d task.Design) float64 { return 100 + 3*float64(d.Int("a")) }

func withMemory(value, memory float64) strategy.Outcome {
	return strategy.Outcome{Value: value, Constraints: map[string]task.Reading{"memory": task.Number(memory)}}
}

// evaluate asks for a trial and measures both outputs.
func (d *driver) evaluate() strategy.Trial {
	d.t.Helper()
	trial := d.ask()
	d.tellOutcome(trial.ID, withMemory(bowl(trial.Design), memoryOf(trial.Design)))
	return trial
}

func (d *driver) tellOutcome(id uint64, outcome strategy.Outcome) {
	d.t.Helper()
	if err := d.agent.Tell(d.now, id, outcome); err != nil {
		d.t.Fatal(err)
	}
	d.carryOut()
}

// fitsOf lists behind how many observations the output was fitted.
func fitsOf(records []Record, output task.Output) (observations []int) {
	for _, r := range records {
		if r.Fit != nil && r.Fit.Output == output {
			observations = append(observations, r.Fit.Observations)
		}
	}
	return observations
}

func TestOutputsAreModelledAndRestored(t *testing.T) {
	spec := bound(newTask(t, "bowl", "type: ts, initial_designs: 2"), 130)
	d := newDriver(t, configOf(t, spec, 1))
	for range 5 {
		d.evaluate()
	}
	for _, output := range spec.Outputs() {
		if got := fitsOf(d.records, output); !slices.Equal(got, []int{1, 2, 3, 4, 5}) {
			t.Errorf("%q: fits after %v observations", output, got)
		}
	}
	before := d.agent.View(d.now)
	checkMemory(t, d, before)

	if journal := compact(t, d.journal); len(journal) >= len(d.journal) {
		t.Fatal("nothing is compacted")
	} else {
		d.journal = journal
	}
	for output, key := range map[task.Output]string{task.Objective: "fit", "memory": "fit/memory"} {
		kept := decodeAll(t, d.journal)
		kept = slices.DeleteFunc(kept, func(r Record) bool { return r.Key() != key })
		if got := fitsOf(kept, output); !slices.Equal(got, []int{5}) {
			t.Errorf("key %q holds fits after %v observations", key, got)
		}
	}
	d.start()
	if slices.ContainsFunc(d.records, func(r Record) bool { return r.Fit != nil }) {
		t.Error("a restart decides about hyperparameters again")
	}
	after := d.agent.View(d.now)
	checkMemory(t, d, after)
	x := spec.Space.Encode(after.Trials[0].Design)
	for what, pair := range map[string][2]surrogate.Posterior{
		"objective": {before.Posterior, after.Posterior}, "memory": {before.Constraints[0], after.Constraints[0]},
	} {
		mean, variance := pair[0].Predict(x)
		if m, v := pair[1].Predict(x); !near(m, mean) || !near(v, variance) {
			t.Errorf("%s: mean %g and variance %g became %g and %g", what, mean, variance, m, v)
		}
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// checkMemory checks that the view's model of memory is that of the values as measured.
func checkMemory(t *testing.T, d *driver, view strategy.View) {
	t.Helper()
	if len(view.Constraints) != 1 || view.Constraints[0].Output != "memory" {
		t.Fatalf("posteriors of %v", view.Constraints)
	}
	got := view.Constraints[0]
	kind, err := surrogate.NewConstraint(view.Task, view.Task.Constraints[0])
	if err != nil {
		t.Fatal(err)
	}
	obs := surrogate.Observations{}
	for _, trial := range view.Trials {
		obs.X, obs.Y = append(obs.X, view.Task.Space.Encode(trial.Design)), append(obs.Y, memoryOf(trial.Design))
	}
	want, err := kind.Condition(obs, got.Hyperparameters(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range obs.X {
		mean, _ := want.Predict(x)
		if m, _ := got.Predict(x); !near(m, mean) {
			t.Errorf("memory at %v: %g, want %g", x, m, mean)
		}
	}
}

// listening notes the first number of each fit's random stream.
type listening struct {
	surrogate.Model
	received *[]uint64
}

func (l listening) Fit(ctx context.Context, obs surrogate.Observations, previous *surrogate.Hyperparameters, rng *rand.Rand) (surrogate.Hyperparameters, error) {
	*l.received = append(*l.received, rng.Uint64())
	return l.Model.Fit(ctx, obs, previous, rng)
}

// TestEachOutputHasItsOwnStream: a constraint takes no number from the objective.
func TestEachOutputHasItsOwnStream(t *testing.T) {
	spec := bound(newTask(t, "bowl", "type: ts, initial_designs: 2"), 130)
	kind, err := surrogate.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	var received []uint64
	cfg := configOf(t, spec, 1)
	cfg.Model = listening{kind, &received}
	d := newDriver(t, cfg)
	d.evaluate()
	d.evaluate()
	if want := []uint64{cfg.Seed.Stream("fit", 1).Uint64(), cfg.Seed.Stream("fit", 2).Uint64()}; !slices.Equal(received, want) {
		t.Errorf("fits drew %v, want %v", received, want)
	}
}

// TestOutcomesWithoutAConstraintAreRefused: the trial can still be told properly.
func TestOutcomesWithoutAConstraintAreRefused(t *testing.T) {
	spec := bound(newTask(t, "bowl", "type: ts, initial_designs: 1"), 130)
	d := newDriver(t, configOf(t, spec, 1))
	trial := d.ask()
	for _, c := range []struct {
		readings map[string]task.Reading
		message  string
	}{
		{nil, `the task's constraint "memory" is missing in the outcome`},
		{map[string]task.Reading{"memory": task.Number(1), "time": task.Number(2)}, `constraint "time" is unknown; the task has memory`},
		{map[string]task.Reading{"memory": task.Truth(true)}, `constraint "memory" is true, expected a number (at most 130 keeps it)`},
		{map[string]task.Reading{"memory": task.Number(math.NaN())}, `constraint "memory" is NaN, not a finite number`},
	} {
		err := d.agent.Tell(d.now, trial.ID, strategy.Outcome{Value: 1, Constraints: c.readings})
		if !errors.Is(err, ErrBadOutcome) || !strings.HasSuffix(err.Error(), c.message) {
			t.Errorf("%v: %v", c.readings, err)
		}
	}
	d.tellOutcome(trial.ID, withMemory(1, 2))
	if view := d.agent.View(d.now); len(view.Constraints) != 1 {
		t.Errorf("constraints %v", view.Constraints)
	}
}

// TestAllOutputsAreCaughtUp: no design is chosen while the posterior of any output lags
// behind.
func TestAllOutputsAreCaughtUp(t *testing.T) {
	spec := bound(newTask(t, "bowl", "type: ts, initial_designs: 1"), 130)
	d := newDriver(t, configOf(t, spec, 1))
	d.evaluate()
	trial := d.ask()
	d.hold = true
	d.tellOutcome(trial.ID, withMemory(1, 2))
	d.requests++
	d.agent.Ask(d.now, d.requests)
	d.carryOut()
	if len(d.held) != 2 {
		t.Fatalf("%d computations, want one for each output", len(d.held))
	}
	objective := d.held[0]
	d.held = d.held[1:]
	d.agent.Done(d.now, objective.ID, objective.Run(t.Context()))
	d.carryOut()
	if _, all := d.agent.Modelled(); all || len(d.held) != 1 {
		t.Errorf("memory is not modelled, yet all: %v, and %d computations", all, len(d.held))
	}
	d.finish()
	if answer := d.answers[len(d.answers)-1]; answer.Request != d.requests || answer.Err != nil {
		t.Errorf("the last answer is %+v", answer)
	}
}

// unteachable learns nothing.
type unteachable struct{ surrogate.Model }

func (unteachable) Condition(surrogate.Observations, surrogate.Hyperparameters, surrogate.Posterior) (surrogate.Posterior, error) {
	return nil, errors.New("too large")
}

// TestAnOutputThatCannotBeLearned: the others can.
func TestAnOutputThatCannotBeLearned(t *testing.T) {
	spec := bound(newTask(t, "bowl", "type: ts, initial_designs: 1"), 130)
	kind, err := surrogate.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	cfg := configOf(t, spec, 1)
	cfg.Model = unteachable{kind}
	d := newDriver(t, cfg)
	d.evaluate()
	d.evaluate()
	if view := d.agent.View(d.now); view.Posterior != nil || len(view.Constraints) != 1 {
		t.Errorf("posterior %v, constraints %v", view.Posterior, view.Constraints)
	}
	if !slices.ContainsFunc(d.events, func(e Event) bool {
		return strings.HasPrefix(e.Message, `the surrogate could not learn from 2 observations (too large)`)
	}) {
		t.Errorf("no warning among %+v", d.events)
	}
}

func TestAFitOfNoOutputOfTheTask(t *testing.T) {
	cfg := configOf(t, newTask(t, "bowl", "type: ts"), 1)
	_, err := New(cfg, []Record{{Fit: &FitRecord{Output: "depth", Observations: 1}}}, epochStart)
	if err == nil || err.Error() != `journal record 1: a fit of output "depth", which the task does not have` {
		t.Errorf("%v", err)
	}
}

// TestBestIsFeasible: the best trial and the events say the same, also after a restart.
func TestBestIsFeasible(t *testing.T) {
	spec := bound(newTask(t, "bowl", "type: ts, initial_designs: 9"), 130)
	d := newDriver(t, configOf(t, spec, 1))
	for i, c := range []struct {
		what    string
		outcome strategy.Outcome
		best    uint64 // 0: none
		nearest uint64 // while there is none
	}{
		{"infeasible", withMemory(5, 132), 0, 1},
		{"infeasible with a better value, but farther", withMemory(4, 133), 0, 1},
		{"infeasible and nearer", withMemory(9, 131), 0, 3},
		{"as near with a better value", withMemory(8, 131), 0, 4},
		{"feasible with a worse value", withMemory(20, 130), 5, 0},
		{"infeasible with a better value", withMemory(2, 131), 5, 0},
		{"feasible and better", withMemory(3, 1), 7, 0},
	} {
		id := d.ask().ID
		d.tellOutcome(id, c.outcome)
		event := d.events[len(d.events)-1]
		for j := len(d.events) - 1; event.Type != TrialFinished; j-- {
			event = d.events[j]
		}
		if best(event.LeastViolation) != c.nearest {
			t.Errorf("trial %d, %s: nearest %d, want %d", i+1, c.what, best(event.LeastViolation), c.nearest)
		}
		if best(event.Best) != c.best || best(d.agent.Best()) != c.best || event.Better != (c.best == id) {
			t.Errorf("trial %d, %s: best %d, in the event %d, better %v; want %d", i+1, c.what, best(d.agent.Best()), best(event.Best), event.Better, c.best)
		}
		d.start()
		if best(d.agent.Best()) != c.best {
			t.Errorf("trial %d, %s, after a restart: best %d, want %d", i+1, c.what, best(d.agent.Best()), c.best)
		}
	}
}

func best(trial *strategy.Trial) uint64 {
	if trial == nil {
		return 0
	}
	return trial.ID
}

// TestOutcomesOfWhatIsTrueOrFalse: a number is refused, both truths are taken, and what is
// false is infeasible.
func TestOutcomesOfWhatIsTrueOrFalse(t *testing.T) {
	spec := *newTask(t, "bowl", "type: ts, initial_designs: 9")
	spec.Constraints = []task.Constraint{task.TruthOf("sound")}
	d := newDriver(t, configOf(t, &spec, 1))
	sound := func(value float64, reading task.Reading) strategy.Outcome {
		return strategy.Outcome{Value: value, Constraints: map[string]task.Reading{"sound": reading}}
	}
	trial := d.ask()
	err := d.agent.Tell(d.now, trial.ID, sound(1, task.Number(1)))
	if !errors.Is(err, ErrBadOutcome) || !strings.HasSuffix(err.Error(), `constraint "sound" is 1, expected true and false`) {
		t.Error(err)
	}
	d.tellOutcome(trial.ID, sound(1, task.Truth(false)))
	if best(d.agent.Best()) != 0 {
		t.Errorf("best %+v", d.agent.Best())
	}
	d.tellOutcome(d.ask().ID, sound(7, task.Truth(true)))
	d.start()
	if best(d.agent.Best()) != 2 {
		t.Errorf("best %+v", d.agent.Best())
	}
	view := d.agent.View(d.now)
	if len(view.Constraints) != 1 || view.Constraints[0].Noise <= 0 || view.Constraints[0].Low != 0 {
		t.Fatalf("%+v", view.Constraints)
	}
	no, _ := view.Constraints[0].Predict(spec.Space.Encode(view.Trials[0].Design))
	yes, _ := view.Constraints[0].Predict(spec.Space.Encode(view.Trials[1].Design))
	if !(no < 0 && yes > 0) {
		t.Errorf("false is %g and true %g", no, yes)
	}
}

// TestFailuresAreObserved: from the first one on, with a fit in the journal for each further
// trial, that a restart restores; and not where they do not count.
func TestFailuresAreObserved(t *testing.T) {
	for _, count := range []bool{true, false} {
		spec := *newTask(t, "bowl", "type: ts, initial_designs: 2")
		spec.Failures = task.IgnoreFailures
		if count {
			spec.Failures = task.ConstrainFailures
		}
		d := newDriver(t, configOf(t, &spec, 1))
		d.run(2, bowl)
		if view := d.agent.View(d.now); len(view.Constraints) != 0 {
			t.Errorf("before a failure: %v", view.Constraints)
		}
		failed := d.ask()
		if err := d.agent.Fail(d.now, failed.ID, "it burned"); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
		d.run(1, bowl)
		var want []int
		if count {
			want = []int{3, 4}
		}
		if got := fitsOf(d.records, task.Completion); !slices.Equal(got, want) {
			t.Errorf("count %v: fits after %v observations, want %v", count, got, want)
		}
		d.start()
		view := d.agent.View(d.now)
		if !count {
			if len(view.Constraints) != 0 {
				t.Errorf("ignored, yet %v", view.Constraints)
			}
			continue
		}
		if slices.ContainsFunc(d.records, func(r Record) bool { return r.Fit != nil }) {
			t.Error("a restart decides about hyperparameters again")
		}
		if len(view.Constraints) != 1 || view.Constraints[0].Output != task.Completion {
			t.Fatalf("constraints %+v", view.Constraints)
		}
		bad, _ := view.Constraints[0].Predict(spec.Space.Encode(failed.Design))
		good, _ := view.Constraints[0].Predict(spec.Space.Encode(view.Trials[0].Design))
		if bad >= good {
			t.Errorf("completion %g where it failed, %g where not", bad, good)
		}
		if b := d.agent.Best(); b == nil || len(b.Violated) > 0 {
			t.Errorf("best %+v", b)
		}
	}
}

// TestImportedFailures: they are observations, and importing them again adds nothing, also
// after a restart.
func TestImportedFailures(t *testing.T) {
	spec := *newTask(t, "bowl", "type: ts, initial_designs: 2")
	spec.Failures = task.ConstrainFailures
	d := newDriver(t, configOf(t, &spec, 1))
	d.run(2, bowl)
	var past []Past
	for i, x := range []float64{0.1, 0.9} {
		p := Past{Design: spec.Space.Decode(slices.Repeat([]float64{x}, spec.Space.Dim()))}
		if i == 0 {
			p.Failed = "burned"
		} else {
			p.Outcome.Value = 3
		}
		past = append(past, p)
	}
	for again := range 3 {
		added, err := d.agent.Import(d.now, past)
		if want := map[int]int{0: 2}[again]; err != nil || added != want {
			t.Fatalf("import %d: %d added, want %d, %v", again, added, want, err)
		}
		d.carryOut()
		if again == 1 {
			d.start()
		}
	}
	trials := d.agent.Trials()
	if len(trials) != 4 || trials[2].State != strategy.Failed || trials[2].Reason != "burned" || trials[3].State != strategy.Done {
		t.Errorf("%+v", trials)
	}
	if view := d.agent.View(d.now); len(view.Constraints) != 1 {
		t.Errorf("constraints %+v", view.Constraints)
	}
}
