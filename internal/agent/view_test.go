package agent

import (
	"testing"
	"time"

	"github.com/fbo-node/fbo/strategy"
)

// A view does not change after it was given out, and the next one shows what has.
func TestViewsAreSnapshots(t *testing.T) {
	d := newTalker(t)
	var states []strategy.State
	var views []strategy.View
	look := func(state strategy.State) {
		t.Helper()
		view := d.agent.View(d.now)
		if got := view.Trials[0].State; got != state {
			t.Errorf("view %d shows a trial that is %s, want %s", len(views), got, state)
		}
		views, states = append(views, view), append(states, state)
	}
	trial := d.ask()
	look(strategy.Running)
	if err := d.agent.Requeue(d.now, trial.ID); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	look(strategy.Waiting)
	d.agent.Direct(d.now, "peer", "rounds", []byte("result"))
	d.tell(d.ask().ID, 1)
	look(strategy.Done)
	d.ask()
	look(strategy.Done)
	for i, view := range views {
		if view.Trials[0].State != states[i] {
			t.Errorf("view %d has changed from %s to %s", i, states[i], view.Trials[0].State)
		}
		if _, ok := strategy.ResultOf[[]byte](view, "rounds"); ok != (i > 1) {
			t.Errorf("view %d shows a result: %v", i, ok)
		}
	}
	if n := len(views[3].Trials); n != 2 {
		t.Errorf("the last view shows %d trials", n)
	}

	d.ask() // cut off by the next start
	d.pass(time.Second)
	d.start()
	if got := d.agent.View(d.now).Trials[2].State; got != strategy.Waiting {
		t.Errorf("a trial that was cut off is %s", got)
	}
}
