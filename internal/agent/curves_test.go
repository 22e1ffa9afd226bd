package agent

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func newStopping(t *testing.T, stop task.Stopping) *driver {
	spec := newTask(t, "bowl", concurrent)
	spec.Stop = &stop
	return newDriver(t, configOf(t, spec, 1))
}

// train reports steps 1, 2, … until the rule stops the trial or step last.
func (d *driver) train(id uint64, last uint64, value func(step uint64) float64) *curves.Stop {
	d.t.Helper()
	for step := uint64(1); step <= last; step++ {
		stop, err := d.agent.Report(d.now, id, []curves.Step{{Step: step, Value: value(step)}})
		if err != nil {
			d.t.Fatal(err)
		}
		d.carryOut()
		if stop != nil {
			return stop
		}
	}
	return nil
}

func level(l float64) func(uint64) float64 {
	return func(step uint64) float64 { return l + 1/float64(step) }
}

var halving = task.Stopping{Type: task.ASHARule, GracePeriod: 1, ReductionFactor: 3}

func TestStoppedTrialIsEvidenceAndNoOutcome(t *testing.T) {
	d := newStopping(t, halving)
	good, bad := d.ask(), d.ask()
	if stop := d.train(good.ID, 9, level(1)); stop != nil {
		t.Fatalf("the first is stopped: %+v", stop)
	}
	d.tell(good.ID, 1)
	stop := d.train(bad.ID, 9, level(5))
	if stop == nil || stop.Step != 1 || stop.Rule != task.ASHARule {
		t.Fatalf("got %+v", stop)
	}
	if got := d.agent.Trials()[bad.ID-1]; got.State != strategy.Running {
		t.Errorf("before its evaluation has ended the trial is %s", got.State)
	}
	for range 2 { // the second call repeats the first
		if err := d.agent.EndStopped(d.now, bad.ID, ""); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
	}
	got := d.agent.Trials()[bad.ID-1]
	if got.State != strategy.StoppedEarly || got.Outcome != nil || len(got.Steps) != 1 || *got.Stop != *stop {
		t.Errorf("got %+v", got)
	}
	if best := d.agent.Best(); best.ID != good.ID {
		t.Errorf("the best is %+v", best)
	}
	obs := strategy.View{Task: d.cfg.Task, Trials: d.agent.Trials()}.Observed(task.Objective)
	// The good trial falls by 1 from step 1 to its end.
	if want := []float64{-1, -5}; len(obs.Y) != 2 || math.Abs(obs.Y[0]-want[0]) > 1e-12 || math.Abs(obs.Y[1]-want[1]) > 1e-12 {
		t.Errorf("observations %v, want %v", obs.Y, want)
	}
	if at, all := d.agent.Modelled(); at != 2 || !all {
		t.Errorf("the model has %d observations", at)
	}
	if err := d.agent.Tell(d.now, bad.ID, strategy.Outcome{Value: 1}); !errors.Is(err, ErrFinished) {
		t.Errorf("an outcome after the end: %v", err)
	}
}

// TestStopAcrossCrashes: no acknowledged value is lost, a decision stays, and a trial that was to be
// stopped is not evaluated again. Another one is offered with its values.
func TestStopAcrossCrashes(t *testing.T) {
	d := newStopping(t, halving)
	good, bad := d.ask(), d.ask()
	d.train(good.ID, 200, level(1)) // several records
	d.journal = compact(t, d.journal)
	d.start()
	again := d.ask()
	if again.ID != good.ID || again.Attempts != 2 || len(again.Steps) != 200 {
		t.Fatalf("offered trial %d, attempt %d, with %d values", again.ID, again.Attempts, len(again.Steps))
	}
	// A second attempt repeats its first steps, with other values.
	if stop, err := d.agent.Report(d.now, good.ID, []curves.Step{{Step: 150, Value: 7}, {Step: 201, Value: 1}}); stop != nil || err != nil {
		t.Fatal(stop, err)
	}
	d.carryOut()
	if steps := d.agent.Trials()[good.ID-1].Steps; len(steps) != 201 || steps[149].Value == 7 {
		t.Errorf("%d values, the first value of step 150 is %v", len(steps), steps[149])
	}
	if offered := d.ask(); offered.ID != bad.ID {
		t.Fatalf("offered %+v", offered)
	}
	stop := d.train(bad.ID, 1, level(9))
	if stop == nil {
		t.Fatal("the bad trial is not stopped")
	}
	before := slices.Clone(d.journal)
	d.start() // before the evaluation has ended
	if got := d.agent.Trials()[bad.ID-1]; got.State != strategy.StoppedEarly || *got.Stop != *stop {
		t.Errorf("after a crash: %+v", got)
	}
	for n := range before {
		if _, err := New(d.cfg, decodeAll(t, before[:n]), d.now); err != nil {
			t.Fatalf("the first %d records: %v", n, err)
		}
	}
	d.start()
	stopped := 0
	for _, r := range decodeAll(t, d.journal) {
		if r.Stopped != nil {
			stopped++
		}
	}
	if stopped != 1 {
		t.Errorf("the trial is stopped %d times", stopped)
	}
}

// TestReturnedTrialMayBeginAnew: an evaluation that was handed back is no attempt, but the next one may
// repeat its steps. The first value of each stays.
func TestReturnedTrialMayBeginAnew(t *testing.T) {
	d := newStopping(t, halving)
	id := d.ask().ID
	d.train(id, 5, level(1))
	if err := d.agent.Requeue(d.now, id); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	if again := d.ask(); again.ID != id || again.Attempts != 1 || len(again.Steps) != 5 {
		t.Fatalf("offered %+v", again)
	}
	d.train(id, 7, level(2))
	want := curves.Curve{}
	for step := uint64(1); step <= 7; step++ {
		base := 1.0
		if step > 5 {
			base = 2
		}
		want = append(want, curves.Step{Step: step, Value: level(base)(step)})
	}
	if got := d.agent.Trials()[id-1].Steps; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestStopOfAClientWithoutHeartbeat(t *testing.T) {
	d := newStopping(t, halving)
	d.train(d.ask().ID, 3, level(1))
	held := d.askFor(someClaim)
	stop, err := d.agent.ReportBy(d.now, held.ID, someClaim.Client, []curves.Step{{Step: 1, Value: 8}})
	if stop == nil || err != nil {
		t.Fatal(stop, err)
	}
	d.carryOut()
	d.pass(2 * someClaim.Lease)
	if got := d.agent.Trials()[held.ID-1]; got.State != strategy.StoppedEarly {
		t.Errorf("got %+v", got)
	}
	if again, err := d.agent.ReportBy(d.now, held.ID, someClaim.Client, []curves.Step{{Step: 2, Value: 8}}); err != nil || *again != *stop {
		t.Errorf("a late report: %v, %v", again, err)
	}
	if _, err := d.agent.ReportBy(d.now, held.ID, "worker 2", nil); !errors.Is(err, ErrFinished) {
		t.Errorf("another client: %v", err)
	}
	if err := d.agent.EndStoppedBy(d.now, held.ID, someClaim.Client, Ending{}); err != nil {
		t.Errorf("a late end: %v", err)
	}
}

func TestIgnoredStopAndOwnStop(t *testing.T) {
	d := newStopping(t, halving)
	d.train(d.ask().ID, 3, level(1))
	deaf, own, none := d.ask(), d.ask(), d.ask()
	d.train(deaf.ID, 1, level(5))
	if stop, err := d.agent.Report(d.now, deaf.ID, []curves.Step{{Step: 2, Value: .1}}); err != nil || stop == nil || stop.Step != 1 {
		t.Errorf("a decision must stay: %v, %v", stop, err)
	}
	d.events = nil
	d.tell(deaf.ID, .5)
	warned := 0
	for _, e := range d.events {
		if e.Type == Warning {
			warned++
		}
	}
	if got := d.agent.Trials()[deaf.ID-1]; got.State != strategy.Done || warned != 1 {
		t.Errorf("%d warnings, %+v", warned, got)
	}
	d.train(own.ID, 1, level(-5))
	if err := d.agent.EndStopped(d.now, own.ID, "no memory left"); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	if got := d.agent.Trials()[own.ID-1]; *got.Stop != (curves.Stop{Rule: ProgramRule, Step: 1, Reason: "no memory left"}) {
		t.Errorf("%+v", got.Stop)
	}
	if err := d.agent.EndStopped(d.now, none.ID, "why not"); !errors.Is(err, ErrNoSteps) || d.agent.Trials()[none.ID-1].State != strategy.Running {
		t.Errorf("without values: %v", err)
	}
	if _, err := d.agent.Report(d.now, none.ID, []curves.Step{{Step: 1, Value: 2}, {Step: 2, Value: math.NaN()}}); !errors.Is(err, curves.ErrBadStep) {
		t.Errorf("NaN: %v", err)
	}
	d.carryOut()
	if steps := d.agent.Trials()[none.ID-1].Steps; len(steps) != 1 {
		t.Errorf("the value before NaN is lost: %v", steps)
	}
}

// TestPatienceEndsWithAnOutcome: by the user's own criterion the evaluation has come to its end.
func TestPatienceEndsWithAnOutcome(t *testing.T) {
	d := newStopping(t, task.Stopping{Type: task.NoRule, GracePeriod: 1, Patience: 5})
	trial := d.ask()
	stop := d.train(trial.ID, 99, func(step uint64) float64 { return max(0, 10-float64(step)) })
	if stop == nil || stop.Rule != curves.PatienceRule || stop.Step != 15 {
		t.Fatalf("%+v", stop)
	}
	d.start() // also when the node ends before the evaluation
	got := d.agent.Trials()[trial.ID-1]
	if got.State != strategy.Done || got.Outcome.Value != 0 || d.agent.Best() == nil {
		t.Errorf("%+v", got)
	}
}

func TestImportedCurves(t *testing.T) {
	d := newBowl(t)
	designs := designsOf(t, d.cfg.Task, `{"a":1,"b":"left"}`, `{"a":2,"b":"left"}`)
	var long curves.Curve
	for i := range uint64(150) {
		long = append(long, curves.Step{Step: i + 1, Value: 1})
	}
	stop := curves.Stop{Rule: ProgramRule, Step: 2, Reason: "pruned"}
	patience := curves.Stop{Rule: curves.PatienceRule, Step: 9, Forecast: new(.5)}
	past := []Past{
		{Design: designs[0], Outcome: strategy.Outcome{Value: 1}, Steps: long},
		{Design: designs[1], Steps: long[:2], Stop: &stop, Stopped: true},
		{Design: designs[1], Outcome: strategy.Outcome{Value: 1}, Steps: long[:9], Stop: &patience},
		{Design: designs[0], Failed: "broke", Steps: long[:9], Stop: &patience},
	}
	for _, want := range []int{4, 0} {
		if added, err := d.agent.Import(d.now, past); added != want || err != nil {
			t.Fatalf("added %d, %v, want %d", added, err, want)
		}
		d.carryOut()
	}
	d.journal = compact(t, d.journal)
	d.start()
	trials := d.agent.Trials()
	if !slices.Equal(trials[0].Steps, long) || trials[1].State != strategy.StoppedEarly || *trials[1].Stop != stop {
		t.Errorf("%+v", trials)
	}
	for i, state := range []strategy.State{strategy.Done, strategy.Failed} {
		if got := trials[2+i]; got.State != state || got.Stop == nil || got.Stop.Rule != patience.Rule || *got.Stop.Forecast != .5 {
			t.Errorf("a decision before another end: %+v", got)
		}
	}
	if all := strategy.Curves(trials, nil); !all[2].Complete || !all[2].Cut {
		t.Errorf("an imported trial that patience has cut: %+v", all[2])
	}
	if _, err := d.agent.Import(d.now, []Past{{Design: designs[1], Stop: &stop, Stopped: true}}); !errors.Is(err, ErrNoSteps) {
		t.Errorf("stopped without values: %v", err)
	}
}

// TestRepairKeepsCurves: trials that are displaced by a gap keep values and ends.
func TestRepairKeepsCurves(t *testing.T) {
	d := newStopping(t, halving)
	first, second, third := d.ask(), d.ask(), d.ask()
	d.train(first.ID, 3, level(0))
	d.tell(first.ID, 0)
	d.train(second.ID, 100, level(-1))
	d.tell(second.ID, -1)
	d.train(third.ID, 3, level(5))
	if err := d.agent.EndStopped(d.now, third.ID, ""); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	var records []Record
	gap := 0
	for _, r := range decodeAll(t, compact(t, d.journal)) {
		if r.Trial != nil && r.Trial.ID == first.ID {
			gap = len(records)
			continue
		}
		records = append(records, r)
	}
	repaired, err := Repair(records, gap, all.Strategies())
	if err != nil {
		t.Fatal(err)
	}
	got := repaired.History.Trials
	if len(got) != 2 || repaired.Imported != 2 || len(got[0].Steps) != 100 || got[0].State != strategy.Done || got[1].State != strategy.StoppedEarly || len(got[1].Steps) != 1 {
		t.Errorf("%d imported: %+v", repaired.Imported, got)
	}
}

// TestForecastRule: designs with a small a fall late. A rule that compares values at the first step
// would stop them; the forecast learns the change from complete trials and stops the others.
func TestForecastRule(t *testing.T) {
	d := newStopping(t, task.Stopping{Type: task.ForecastRule, GracePeriod: 1, StartupTrials: 5})
	value := func(design task.Design, step uint64) float64 {
		left := 1 - float64(step)/9
		return bowl(design) + left*(30-float64(design.Int("a")))/5
	}
	stopped, steps := 0, 0
	for n := range 25 {
		trial := d.ask()
		if stop := d.train(trial.ID, 9, func(step uint64) float64 { return value(trial.Design, step) }); stop != nil {
			stopped++
			if n < 5 || stop.Rule != task.ForecastRule || stop.Forecast == nil || *stop.Forecast < d.agent.Best().Outcome.Value {
				t.Errorf("trial %d: %+v", trial.ID, stop)
			}
			if truth := bowl(trial.Design); truth < d.agent.Best().Outcome.Value {
				t.Errorf("trial %d with outcome %g is stopped: %+v", trial.ID, truth, stop)
			}
			if err := d.agent.EndStopped(d.now, trial.ID, ""); err != nil {
				t.Fatal(err)
			}
			d.carryOut()
		} else {
			d.tell(trial.ID, bowl(trial.Design))
		}
		steps += len(d.agent.Trials()[trial.ID-1].Steps)
	}
	if best := d.agent.Best().Outcome.Value; best > .1 {
		t.Errorf("the best is %g, expected the minimum 0 or its neighbour", best)
	}
	if stopped < 8 || steps > 25*9*2/3 {
		t.Errorf("%d trials are stopped after %d steps of %d, expected at least 8 and at most two thirds", stopped, steps, 25*9)
	}
	// The decisions and their bounds come from the journal.
	before := d.agent.Trials()
	d.journal = compact(t, d.journal)
	d.start()
	for i, trial := range d.agent.Trials() {
		if s := before[i].Stop; s != nil && (trial.Stop == nil || *trial.Stop.Forecast != *s.Forecast || trial.State != before[i].State) {
			t.Errorf("trial %d: %+v, before %+v", trial.ID, trial.Stop, s)
		}
	}
}

// TestDamagedJournalStopsATrialWithoutValues checks that a journal without the values of a stopped trial is
// an error. The start of such a node ended in a panic, since it ends the trial.
func TestDamagedJournalStopsATrialWithoutValues(t *testing.T) {
	d := newStopping(t, halving)
	good, bad := d.ask(), d.ask()
	d.train(good.ID, 9, level(1))
	d.tell(good.ID, 1)
	d.train(bad.ID, 9, level(5))
	whole := decodeAll(t, d.journal)
	if _, err := New(d.cfg, whole, d.now); err != nil {
		t.Fatal(err)
	}
	lost := slices.DeleteFunc(slices.Clone(whole), func(r Record) bool { return r.Steps != nil && r.Steps.ID == bad.ID })
	emptied := append(slices.Clone(whole), Record{Steps: &StepsRecord{ID: bad.ID}})
	for name, records := range map[string][]Record{"lost": lost, "emptied": emptied} {
		if _, err := New(d.cfg, records, d.now); err == nil {
			t.Errorf("%s: no error, expected one about trial %d", name, bad.ID)
		}
	}
}
