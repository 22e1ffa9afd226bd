package agent

import (
	"math"
	"testing"
	"time"

	"github.com/fbo-node/fbo/strategy"
)

// TestTimeLeft estimates from evaluations of ten seconds and a cost of two.
func TestTimeLeft(t *testing.T) {
	at := func(seconds float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(seconds * 1e9)) }
	done := func(begun float64) strategy.Trial {
		return strategy.Trial{State: strategy.Done, Outcome: &strategy.Outcome{}, Started: at(begun), Finished: at(begun + 10), Cost: new(2.0)}
	}
	running := strategy.Trial{State: strategy.Running, Started: at(36)}
	imported := done(0)
	imported.Why.Source = strategy.Imported
	three := []strategy.Trial{imported, done(0), done(12), done(24)}
	four := append(three[:4:4], running)
	run := func(b Budget) Budget {
		b.Begun = at(0)
		return b
	}
	for name, c := range map[string]struct {
		of     Budget
		trials []strategy.Trial
		want   float64
	}{
		"no run":                        {Budget{Evals: 10}, three, 0},
		"too few have ended":            {run(Budget{Evals: 10, Deadline: at(100)}), three[:3], 0},
		"time only":                     {run(Budget{Deadline: at(100)}), nil, 60},
		"no limit":                      {run(Budget{}), three, 0},
		"evaluations":                   {run(Budget{Evals: 10}), three, 7 * 34.0 / 3}, // with the gaps between them
		"a resumed run":                 {Budget{Evals: 10, Begun: at(36)}, three, 7 * 10},
		"one runs":                      {Budget{Evals: 10, Begun: at(36)}, four, 6*10 + 6},
		"two at once":                   {Budget{Evals: 10, Begun: at(36), Parallel: 2}, four, (6*10 + 6) / 2.0},
		"cost":                          {Budget{Cost: 13, Begun: at(36)}, four, 3*10 + 6}, // 6 and 2 are spent, 5 are left
		"cost is first":                 {Budget{Cost: 9, Evals: 100, Begun: at(36)}, four, 10 + 6},
		"time is first":                 {Budget{Cost: 90, Evals: 100, Begun: at(36), Deadline: at(50)}, four, 10},
		"the deadline has passed":       {Budget{Evals: 100, Begun: at(36), Deadline: at(39)}, four, 0},
		"the last one runs":             {Budget{Evals: 4, Begun: at(36)}, four, 6},
		"all have ended":                {Budget{Evals: 3, Begun: at(36)}, three, 0},
		"more than the budget is spent": {Budget{Cost: 1, Begun: at(36)}, three, 0},
		"nothing has a cost":            {Budget{Cost: 1, Begun: at(36)}, []strategy.Trial{{State: strategy.Done}, {State: strategy.Done}, {State: strategy.Done}}, 0},
	} {
		got := c.of.Progress(c.trials, at(40))
		if math.Abs(got.SecondsLeft-c.want) > 1e-9 {
			t.Errorf("%s: %g s, expected %g", name, got.SecondsLeft, c.want)
		}
	}
	p := run(Budget{Evals: 10, Cost: 20}).Progress(four, at(40))
	if p.Evals != 3 || p.MaxEvals != 10 || p.MaxCost != 20 || *p.Cost != (strategy.Spending{Spent: 8, Mean: 2, Known: 3}) {
		t.Errorf("%+v, %+v", p, *p.Cost)
	}
	if p := (Budget{}).Progress(four[4:], at(40)); p != (Progress{}) {
		t.Errorf("without costs: %+v", p)
	}
}
