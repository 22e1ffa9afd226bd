package agent

import (
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// learnFailures plays evaluations of a plane whose left part fails, or a part by chance, and returns how
// many of the attempts failed and whether the agent holds failures for a matter of the design.
func learnFailures(t *testing.T, failures task.Failures, seed uint64, attempts int, fails func(x, chance float64) bool) (failed int, learned bool) {
	t.Helper()
	plane := *newTask(t, "square", "type: alone")
	if failures != "" {
		plane.Failures = failures
	}
	cfg := configOf(t, &plane, 1)
	cfg.Seed = random.SeedOf(seed)
	d, chance := newDriver(t, cfg), cfg.Seed.Stream("chance", 0)
	for range attempts {
		trial := d.ask()
		x, y := trial.Design.Float("x"), trial.Design.Float("y")
		if fails(x, chance.Float64()) {
			failed++
			if err := d.agent.Fail(d.now, trial.ID, "broken"); err != nil {
				t.Fatal(err)
			}
			d.carryOut()
			continue
		}
		d.tell(trial.ID, x*x+(y-0.3)*(y-0.3))
	}
	view := d.agent.View(d.now)
	if len(view.Constraints) > 0 && plane.Failures != task.ConstrainFailures {
		t.Errorf("the task has %d constraints, expected none", len(view.Constraints))
	}
	return failed, view.Completion != nil
}

func TestFailuresAreLearnedWhileTheyCluster(t *testing.T) {
	left := func(x, _ float64) bool { return x < 0.4 }
	ignored, learned := learnFailures(t, task.IgnoreFailures, 1, 30, left)
	if learned {
		t.Error("failures are modelled although they are ignored")
	}
	failed, learned := learnFailures(t, "", 1, 30, left)
	if !learned || failed > ignored*2/3 {
		t.Errorf("%d of 30 failed, %d where failures are ignored; modelled: %v", failed, ignored, learned)
	}
	if _, learned := learnFailures(t, "", 1, 30, func(_, chance float64) bool { return chance < 0.3 }); learned {
		t.Error("failures by chance are modelled")
	}
	if failed, learned := learnFailures(t, "", 1, 10, func(float64, float64) bool { return false }); failed > 0 || learned {
		t.Error("failures are modelled where none is")
	}
}

// Failures before the first outcome, which the next start sets aside, teach nothing.
func TestFailuresSetAsideAreNotLearned(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "bowl", "type: alone"), 1))
	failRun(t, d, 6)
	d.start()
	d.run(4, bowl)
	if view := d.agent.View(d.now); view.SetAside != 6 || view.Completion != nil {
		t.Errorf("%d trials set aside, completion modelled: %v", view.SetAside, view.Completion != nil)
	}
}

// Failures among imported trials teach where designs fail, as own ones do.
func TestImportedFailuresAreLearned(t *testing.T) {
	spec := newTask(t, "square", "type: alone")
	d := newDriver(t, configOf(t, spec, 1))
	var past []Past
	for i := range 30 {
		p := Past{Design: spec.Space.Decode([]float64{float64(i%6) / 5, float64(i/6) / 4})}
		if p.Design.Float("x") < 0.5 {
			p.Failed = "as imported"
		}
		past = append(past, p)
	}
	if added, err := d.agent.Import(d.now, past); added != 30 || err != nil {
		t.Fatalf("%d imported, %v", added, err)
	}
	d.carryOut()
	if d.agent.View(d.now).Completion == nil || !d.agent.ExpectsFailure(past[0].Design) || d.agent.ExpectsFailure(past[5].Design) {
		t.Errorf("imported failures are not learned: %v", d.agent.View(d.now).Completion)
	}
}
