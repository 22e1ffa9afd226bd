package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func manyMetrics(n int) map[string]float64 {
	metrics := map[string]float64{}
	for i := range n {
		metrics[fmt.Sprint("m", i)] = float64(i)
	}
	return metrics
}

func withMetric(trial strategy.Trial) strategy.Outcome {
	outcome := *trial.Outcome
	outcome.Metrics = manyMetrics(1)
	return outcome
}

func TestTellAndFailTwice(t *testing.T) {
	d := newBowl(t)
	one, two := d.ask(), d.ask()
	outcome := func() strategy.Outcome {
		return strategy.Outcome{Value: 2, Constraints: map[string]task.Reading{"memory": task.Number(3)}, Metrics: manyMetrics(strategy.MaxMetrics)}
	}
	if err := d.agent.Tell(d.now, one.ID, outcome()); err != nil {
		t.Fatal(err)
	}
	if err := d.agent.Tell(d.now, two.ID, strategy.Outcome{Value: 1, Constraints: map[string]task.Reading{}}); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	three := d.ask()
	if err := d.agent.Fail(d.now, three.ID, "once"); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	for _, when := range []string{"at once", "after a restart"} {
		before := d.snapshot()
		if err := errors.Join(
			d.agent.Tell(d.now, one.ID, outcome()),
			d.agent.Tell(d.now, two.ID, strategy.Outcome{Value: 1, Constraints: map[string]task.Reading{}}),
			d.agent.Tell(d.now, two.ID, strategy.Outcome{Value: 1}),
			d.agent.Fail(d.now, three.ID, "twice"),
		); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if d.snapshot() != before {
			t.Errorf("%s: something changed", when)
		}
		d.start()
	}
}

// What a caller does with its map afterwards is its own business.
func TestOutcomesAreCopied(t *testing.T) {
	d := newBowl(t)
	trial := d.ask()
	constraints, metrics := map[string]task.Reading{"memory": task.Number(3)}, map[string]float64{"accuracy": 3}
	if err := d.agent.Tell(d.now, trial.ID, strategy.Outcome{Value: 2, Constraints: constraints, Metrics: metrics}); err != nil {
		t.Fatal(err)
	}
	past, pastMetrics := map[string]task.Reading{"memory": task.Truth(true)}, map[string]float64{"accuracy": 4}
	if _, err := d.agent.Import(d.now, []Past{{Design: trial.Design, Outcome: strategy.Outcome{Value: 5, Constraints: past, Metrics: pastMetrics}}}); err != nil {
		t.Fatal(err)
	}
	constraints["memory"], past["memory"], metrics["accuracy"], pastMetrics["accuracy"] = task.Number(99), task.Number(99), 99, 99
	d.carryOut()
	for i, want := range []task.Reading{task.Number(3), task.Truth(true)} {
		if got := d.agent.Trials()[i].Outcome; got.Constraints["memory"] != want || got.Metrics["accuracy"] != float64(3+i) {
			t.Errorf("trial %d: %+v, want %v", i+1, got, want)
		}
	}
}

func TestLeaseEnds(t *testing.T) {
	cfg := configOf(t, newTask(t, "bowl", concurrent), 1)
	cfg.Lease = 42 * time.Second
	d := newDriver(t, cfg)
	early := d.ask()
	d.pass(20 * time.Second)
	late, told := d.ask(), d.ask()
	d.tell(told.ID, 1)
	d.pass(22*time.Second - 1)
	if got := d.agent.Trials()[early.ID-1].State; got != strategy.Running {
		t.Fatalf("before its lease ends the trial is %s", got)
	}
	d.pass(1)
	trials := d.agent.Trials()
	if got := trials[early.ID-1]; got.State != strategy.Failed || !strings.Contains(got.Reason, "42s") {
		t.Errorf("the early trial is %+v", got)
	}
	if got := trials[late.ID-1].State; got != strategy.Running {
		t.Errorf("the late trial is %s", got)
	}
	d.pass(time.Hour)
	if got := d.agent.Trials()[late.ID-1].State; got != strategy.Failed {
		t.Errorf("an hour later the late trial is %s", got)
	}
	if got := d.agent.Trials()[told.ID-1].State; got != strategy.Done {
		t.Errorf("the told trial is %s", got)
	}
}

func TestAttemptsAreCounted(t *testing.T) {
	for _, limit := range []int{1, 2, 5} {
		cfg := configOf(t, newTask(t, "bowl", concurrent), 1)
		cfg.MaxAttempts = limit
		d := newDriver(t, cfg)
		first := d.ask()
		for attempt := 2; attempt <= limit; attempt++ {
			d.start() // a crash
			d.start() // and one before anybody asked, which counts nothing
			again := d.ask()
			if again.ID != first.ID || again.Attempts != attempt || !again.Design.Equal(first.Design) {
				t.Fatalf("limit %d: attempt %d is %+v", limit, attempt, again)
			}
		}
		d.start()
		if got := d.agent.Trials()[0]; got.State != strategy.Failed || got.Attempts != limit {
			t.Errorf("limit %d: after the last attempt %+v", limit, got)
		}
		if next := d.ask(); next.ID != 2 {
			t.Errorf("limit %d: the next trial is %+v", limit, next)
		}
	}
}

func TestReturnAndStopCountNoAttempt(t *testing.T) {
	d := newBowl(t)
	first := d.ask()
	for range 5 {
		if err := d.agent.Requeue(d.now, first.ID); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
		if err := d.agent.Requeue(d.now, first.ID); err == nil {
			t.Error("a trial that nobody runs was handed back")
		}
		if again := d.ask(); again.ID != first.ID || again.Attempts != 1 {
			t.Fatalf("after Return: %+v", again)
		}
		d.agent.Stop(d.now)
		d.carryOut()
		d.start()
		if again := d.ask(); again.ID != first.ID || again.Attempts != 1 {
			t.Fatalf("after Stop: %+v", again)
		}
	}
}

func TestAWaitingTrialTakesAnOutcomeOrAFailure(t *testing.T) {
	d := newBowl(t)
	one, two := d.ask(), d.ask()
	d.start()
	d.tell(one.ID, 3)
	if err := d.agent.Fail(d.now, two.ID, "gone"); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	if next := d.ask(); next.ID != 3 {
		t.Errorf("an ended trial is offered again: %+v", next)
	}
}

func TestAFailedDesignIsNotProposedAgain(t *testing.T) {
	// Three of the 63 designs fail, then all get asked for.
	broken := func(design task.Design) bool { return design.Int("a") > 11 && design.Choice("b") == "left" }
	d := newDriver(t, configOf(t, newTask(t, "cup", concurrent), 1))
	failed := map[string]bool{}
	for range 75 {
		trial := d.ask()
		if failed[trial.Design.Key()] {
			t.Fatalf("trial %d: %v (%s) has failed before", trial.ID, trial.Design, trial.Why)
		}
		if !broken(trial.Design) {
			d.tell(trial.ID, bowl(trial.Design))
			continue
		}
		failed[trial.Design.Key()] = true
		if err := d.agent.Fail(d.now, trial.ID, "broken"); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
	}
	if len(failed) == 0 {
		t.Error("no design failed; the test shows nothing")
	}
}

// A reason may be the last line of some program, in any encoding.
func TestAnyReasonSurvives(t *testing.T) {
	d := newBowl(t)
	trial := d.ask()
	if err := d.agent.Fail(d.now, trial.ID, "caf\xe9 \x00"); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	before := d.agent.Trials()[0].Reason
	d.start()
	if after := d.agent.Trials()[0].Reason; after != before {
		t.Errorf("reason %q became %q", before, after)
	}
}

// A trial is what the user sees as JSON, with its why.
func TestTrialsSurviveJSON(t *testing.T) {
	d := newBowl(t)
	d.run(3, bowl)
	data, err := json.Marshal(d.agent.Trials()[2])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"id":3`, `"parameters":{"a":`, `"source":"own"`, `"state":"done"`, `"outcome":{"value":`} {
		if !strings.Contains(string(data), part) {
			t.Errorf("%s does not contain %s", data, part)
		}
	}
}
