package progress

import (
	"bytes"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/strategy"
)

func TestSparklineScalesValues(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{nil, ""},
		{[]float64{3}, "▁"},
		{[]float64{3, 3, 3}, "▁▁▁"},
		{[]float64{7, 0}, "█▁"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, "▂▄▆█"}, // of two each the last: 1, 3, 5, 7
		{[]float64{-math.MaxFloat64, 0, math.MaxFloat64}, "▁▅█"},
	} {
		if got := sparkline(c.values, 4); got != c.want {
			t.Errorf("%v: %s, want %s", c.values, got, c.want)
		}
	}
}

// TestFooterCountsTrialsAndFailures checks the footer's trials, failures, cost and time
// during a run of ten outcomes.
func TestFooterCountsTrialsAndFailures(t *testing.T) {
	f := &footer{keys: "Ctrl-C stops", progress: agent.Progress{MaxEvals: 10}}
	started := agent.Event{Type: agent.TrialStarted, Trial: &strategy.Trial{}}
	ended := func(state strategy.State, best float64) agent.Event {
		e := agent.Event{Type: agent.TrialFinished, Trial: &strategy.Trial{State: state}}
		if state == strategy.Done {
			e.Best = &strategy.Trial{Outcome: &strategy.Outcome{Value: best}}
		}
		return e
	}
	at := func(want string) {
		t.Helper()
		if got := f.text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	at("0 of 10 evaluations · 0 peers · Ctrl-C stops")
	f.take(started)
	f.take(started)
	f.peers = 1
	at("0 of 10 evaluations · 2 running · 1 peer · Ctrl-C stops")
	f.take(ended(strategy.Failed, 0))
	f.take(ended(strategy.Done, 4))
	f.take(started)
	f.take(ended(strategy.Done, 2))
	f.progress.SecondsLeft = 240
	at("2 of 10 evaluations · 1 failed · best 2 █▁ · 1 peer · about 4 min left · Ctrl-C stops")
	report := func(id, step uint64) agent.Event {
		return agent.Event{Type: agent.TrialReported, Trial: &strategy.Trial{ID: id, Steps: curves.Curve{{Step: step, Value: 0.5}}}}
	}
	f.take(started)
	f.take(report(8, 3))
	at("2 of 10 evaluations · 1 running, trial 8 at step 3: 0.5 · 1 failed · best 2 █▁ · 1 peer · about 4 min left · Ctrl-C stops")
	end := ended(strategy.StoppedEarly, 0)
	end.Trial.ID = 8
	f.take(end)
	f.progress.SecondsLeft = 120
	at("3 of 10 evaluations · 1 failed · 1 stopped early · best 2 █▁ · 1 peer · about 2 min left · Ctrl-C stops")
	f.stopped, f.progress = 0, agent.Progress{Evals: 2, MaxEvals: 2, MaxCost: 100, Cost: &strategy.Spending{Spent: 40.25}}
	at("2 of 2 evaluations, cost 40.25 of 100 · 1 failed · best 2 █▁ · 1 peer · Ctrl-C stops")
	f.progress = agent.Progress{Evals: 2, Cost: &strategy.Spending{Spent: 1e-3}}
	at("2 evaluations, cost 0.001 · 1 failed · best 2 █▁ · 1 peer · Ctrl-C stops")
}

// TestNoFooterInFiles: what is piped is lines alone, without colours.
func TestNoFooterInFiles(t *testing.T) {
	var out bytes.Buffer
	if newFooter(&out, nil, nil, agent.Progress{}, "") != nil || paintOf(&out) {
		t.Error("a buffer counts as a terminal")
	}
	show := New(&out, nil, false)
	show.Tick(3, agent.Progress{})
	show.Warning("low")
	show.Leave()
	if out.String() != "warning: low\n" {
		t.Errorf("got %q", out.String())
	}
	if list := show.warned.list(); len(list) != 1 || list[0].Text != "low" {
		t.Errorf("kept %+v", list)
	}
}

func TestWarnedKeepsTheNewest(t *testing.T) {
	var w warned
	for range maxWarned + 5 {
		w.add("once\x1b[2J more")
	}
	list := w.list()
	if len(list) != maxWarned || list[0].ID != 6 || list[0].Text != `once\x1b[2J more` {
		t.Errorf("%d lines, first %+v", len(list), list[0])
	}
}
