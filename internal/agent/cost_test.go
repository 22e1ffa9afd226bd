package agent

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// TestCosts reports costs in all ways, and reads them again from the journal, also from a compacted
// and a repaired one.
func TestCosts(t *testing.T) {
	d := newStopping(t, halving)
	done, failed, stopped := d.ask().ID, d.ask().ID, d.ask().ID
	held := d.askFor(someClaim).ID
	report := func(id uint64, steps ...curves.Step) error {
		_, err := d.agent.Report(d.now, id, steps)
		return err
	}
	for _, err := range []error{
		report(done, curves.Step{Step: 1, Value: 1, Cost: new(2.0)}, curves.Step{Step: 2, Value: 1, Cost: new(3.0)}),
		report(done, curves.Step{Step: 1, Value: 1, Cost: new(1.0)}), // repeated, and smaller
		d.agent.Tell(d.now, done, strategy.Outcome{Value: 1, Cost: new(3.5)}),
		d.agent.Tell(d.now, done, strategy.Outcome{Value: 1, Cost: new(3.25)}), // smaller
		d.agent.ReportCost(failed, new(0.0)),
		d.agent.Fail(d.now, failed, "why not"),
		report(stopped, curves.Step{Step: 1, Value: 1, Cost: new(1.5)}),
		d.agent.EndStopped(d.now, stopped, "enough"),
		d.agent.FailBy(d.now, held, someClaim.Client, Ending{Reason: "x", Cost: new(7.0)}),
		d.agent.FailBy(d.now, held, someClaim.Client, Ending{Reason: "x", Cost: new(8.0)}),
		d.agent.ReportCost(held, nil),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	running := d.ask().ID
	if err := report(running, curves.Step{Step: 1, Value: 1, Cost: new(-1.0)}, curves.Step{Step: 2, Value: 1, Cost: new(4.0)}); !errors.Is(err, strategy.ErrBadCost) {
		t.Errorf("a negative cost: %v", err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1e-9} {
		for _, err := range []error{
			d.agent.Tell(d.now, running, strategy.Outcome{Value: 1, Cost: &bad}), d.agent.ReportCost(running, &bad),
			d.agent.EndStoppedBy(d.now, held, someClaim.Client, Ending{Cost: &bad}),
		} {
			if !errors.Is(err, strategy.ErrBadCost) && !errors.Is(err, ErrFinished) || err == nil {
				t.Errorf("cost %g: %v", bad, err)
			}
		}
	}
	d.carryOut()
	check := func(trials []strategy.Trial) {
		t.Helper()
		for i, want := range []float64{3.5, 0, 1.5, 8, 4} {
			if got := trials[i].Cost; got == nil || *got != want {
				t.Errorf("trial %d: cost %v, expected %g", i+1, got, want)
			}
			for _, s := range trials[i].Steps {
				if s.Cost != nil {
					t.Errorf("trial %d: step %d has a cost", i+1, s.Step)
				}
			}
		}
		if len(trials[4].Steps) != 2 || trials[4].State.Ended() {
			t.Errorf("trial 5: %+v", trials[4])
		}
	}
	check(d.agent.Trials())
	if got := strategy.SpendingOf(d.agent.Trials()); got != (strategy.Spending{Spent: 17, Mean: 3.25, Known: 5}) {
		t.Errorf("spending %+v", got)
	}
	d.journal = compact(t, d.journal)
	d.start()
	check(d.agent.Trials())
	records := decodeAll(t, d.journal)
	repaired, err := Repair(records, len(records), d.cfg.Strategies)
	if err != nil {
		t.Fatal(err)
	}
	check(repaired.History.Trials)
	var gap []Record // without the first trial, so that the others get new numbers
	for _, r := range records {
		if r.Trial == nil || r.Trial.ID > 1 {
			gap = append(gap, r)
		}
	}
	if repaired, err = Repair(gap, 1, d.cfg.Strategies); err != nil {
		t.Fatal(err)
	}
	if trials := repaired.History.Trials; len(trials) != 1 || trials[0].State != strategy.StoppedEarly || *trials[0].Cost != 1.5 {
		t.Errorf("after a gap: %+v", trials)
	}
}

// TestImportedCosts: an imported trial keeps its cost, and does not count as spent.
func TestImportedCosts(t *testing.T) {
	d := newStopping(t, halving)
	design := d.ask().Design
	past := []Past{
		{Design: design, Outcome: strategy.Outcome{Value: 1, Cost: new(5.0)}},
		{Design: design, Failed: "x", Outcome: strategy.Outcome{Cost: new(6.0)}},
	}
	for _, want := range []int{2, 0} {
		if added, err := d.agent.Import(d.now, past); err != nil || added != want {
			t.Fatalf("added %d, %v", added, err)
		}
	}
	past[0].Outcome.Cost = new(-1.0)
	if _, err := d.agent.Import(d.now, past); !errors.Is(err, strategy.ErrBadCost) || !strings.Contains(err.Error(), "imported trial 1") {
		t.Errorf("a negative cost: %v", err)
	}
	trials := d.agent.Trials()
	if *trials[1].Cost != 5 || *trials[2].Cost != 6 {
		t.Errorf("%+v", trials)
	}
	if got := strategy.SpendingOf(trials); got != (strategy.Spending{}) {
		t.Errorf("spending %+v", got)
	}
}

// TestCostModel: the cost is modelled only if the strategy uses it, and a restart does not fit it again.
func TestCostModel(t *testing.T) {
	for _, perCost := range []bool{false, true} {
		keys := ""
		if perCost {
			keys = "per_cost: true, "
		}
		d := newDriver(t, configOf(t, newTask(t, "bowl", "type: logei, "+keys+"initial_designs: 3"), 1))
		for range 6 {
			trial := d.ask()
			if err := d.agent.Tell(d.now, trial.ID, strategy.Outcome{Value: bowl(trial.Design), Cost: new(1 + float64(trial.Design.Int("a")))}); err != nil {
				t.Fatal(err)
			}
			d.carryOut()
		}
		late := d.ask() // its cost comes after its outcome
		d.tell(late.ID, bowl(late.Design))
		if err := d.agent.ReportCost(late.ID, new(2.0)); err != nil {
			t.Fatal(err)
		}
		d.ask()
		view := d.agent.view(d.now)
		if modelled := view.Cost != nil; modelled != perCost {
			t.Fatalf("per_cost %t: the cost is modelled: %t", perCost, modelled)
		}
		fits := 0
		for _, r := range decodeAll(t, d.journal) {
			if r.Fit != nil && r.Fit.Output == task.Cost {
				fits++
			}
		}
		if perCost != (fits > 0) {
			t.Errorf("per_cost %t: %d fits", perCost, fits)
		}
		d.start()
		if perCost {
			d.ask()
			if again := d.agent.view(d.now); again.Cost == nil || !reflect.DeepEqual(again.Cost.Hyperparameters(), view.Cost.Hyperparameters()) {
				t.Errorf("after a restart: %+v", again.Cost)
			}
			if view.Constraints != nil || view.Completion != nil {
				t.Errorf("the cost counts as a constraint: %+v", view)
			}
		}
	}
}

// TestCostsAreNotShared: the shares of a node, and its designs, are the same with and without costs.
func TestCostsAreNotShared(t *testing.T) {
	var payloads [2][]string
	for i := range payloads {
		d := newDriver(t, configOf(t, newTask(t, "square", "type: peer-prior, initial_designs: 3"), 1))
		for range 6 {
			trial := d.ask()
			outcome := strategy.Outcome{Value: trial.Design.Float("x")}
			if i == 1 {
				outcome.Cost = new(1 + 7*trial.Design.Float("y"))
			}
			if err := d.agent.Tell(d.now, trial.ID, outcome); err != nil {
				t.Fatal(err)
			}
			d.carryOut()
			payloads[i] = append(payloads[i], trial.Design.String())
		}
		for _, share := range d.take() {
			payloads[i] = append(payloads[i], fmt.Sprint(share.Key)+string(share.Payload))
		}
	}
	if len(payloads[0]) < 8 || !reflect.DeepEqual(payloads[0], payloads[1]) {
		t.Errorf("without costs\n%q\nwith costs\n%q", payloads[0], payloads[1])
	}
}
