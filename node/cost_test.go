package node_test

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
)

// TestCostEndsRun runs to a budget of cost, which a second run begins with what the first has left.
func TestCostEndsRun(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{1, 3} {
		s := join(t, loopback(t), bowl, 1)
		var calls atomic.Int64
		evaluate := func(ctx context.Context, trial strategy.Trial) (strategy.Outcome, error) {
			switch calls.Add(1) {
			case 2: // counts with the mean
				return strategy.Outcome{Value: 1}, nil
			case 3: // a failed one has a cost
				return strategy.Outcome{Cost: new(2.0)}, errors.New("no memory")
			case 4: // a stopped one has that of its last step
				if _, err := s.Report(ctx, trial.ID, node.Step{Step: 1, Value: 1, Cost: new(2.0)}); err != nil {
					return strategy.Outcome{}, err
				}
				return strategy.Outcome{}, node.ErrStopped
			case 5: // a wrong cost fails nothing
				return strategy.Outcome{Value: 1, Cost: new(math.NaN())}, nil
			}
			return strategy.Outcome{Value: trial.Design.Float("x"), Cost: new(2.0)}, nil
		}
		for run, budget := range []float64{15, 15, 25, 1} {
			if err := s.RunTrials(t.Context(), evaluate, node.RunOptions{Cost: budget, Evals: 100, Parallel: parallel}); err != nil {
				t.Fatal(err)
			}
			want := []int{8, 8, 13, 13}[run]
			trials := trialsOf(t, s)
			if len(trials) != want { // nothing starts at the budget or above it
				t.Errorf("%d at once, budget %g: %d trials, expected %d", parallel, budget, len(trials), want)
			}
			if got := strategy.SpendingOf(trials).Spent; got != 2*float64(want) {
				t.Errorf("%d at once, budget %g: spent %g", parallel, budget, got)
			}
		}
		status, err := s.Status(t.Context())
		if err != nil || status.Progress.Cost == nil || status.Progress.Cost.Spent != 26 || status.Progress.Evals != 12 || status.Progress.MaxCost != 0 {
			t.Errorf("%+v, %v", status.Progress, err)
		}
		if trials := trialsOf(t, s); trials[4].State != strategy.Done && parallel == 1 {
			t.Errorf("%+v", trials[4])
		}
	}
}

func TestRunWithoutCostsEnds(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	var calls atomic.Int64
	evaluate := func(context.Context, strategy.Trial) (strategy.Outcome, error) {
		calls.Add(1)
		return strategy.Outcome{Value: 1}, nil
	}
	for range 2 { // also in a second run
		calls.Store(0)
		if err := s.RunTrials(t.Context(), evaluate, node.RunOptions{Cost: 10}); !errors.Is(err, node.ErrNoCost) || calls.Load() != 3 {
			t.Errorf("after %d evaluations: %v", calls.Load(), err)
		}
	}
	for _, budget := range []float64{-1, math.NaN(), math.Inf(1)} {
		if err := s.RunTrials(t.Context(), evaluate, node.RunOptions{Cost: budget}); err == nil || calls.Load() != 3 {
			t.Errorf("budget %g: %v", budget, err)
		}
	}
}
