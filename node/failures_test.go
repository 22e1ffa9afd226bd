package node_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// evaluations is an evaluator whose calls fail as told, counted from 1.
func evaluations(fails func(call int) bool) func(context.Context, task.Design) (float64, error) {
	var calls atomic.Int32
	return func(context.Context, task.Design) (float64, error) {
		if fails(int(calls.Add(1))) {
			return 0, errors.New("out of luck")
		}
		return 1, nil
	}
}

// TestGivingUp: which failures end a run, and which do not.
func TestGivingUp(t *testing.T) {
	t.Parallel()
	always := func(int) bool { return true }
	for name, c := range map[string]struct {
		options       node.RunOptions
		fails         func(call int) bool
		want          string // of the error; empty: none
		done, failed  int
		nothingWorked bool
	}{
		"first ten":          {options: node.RunOptions{Evals: 2}, fails: always, want: "no evaluation has worked: 10 in a row failed, the last (trial 10): out of luck", failed: 10, nothingWorked: true},
		"unlucky":            {options: node.RunOptions{Evals: 2}, fails: func(call int) bool { return call <= 9 }, done: 2, failed: 9},
		"a limit below ten":  {options: node.RunOptions{Failures: 2}, fails: always, want: "no evaluation has worked: 2 in this run failed, the last (trial 2): out of luck", failed: 2, nothingWorked: true},
		"a limit above ten":  {options: node.RunOptions{Evals: 3, Failures: 13}, fails: func(call int) bool { return call <= 12 }, done: 3, failed: 12},
		"half of the space":  {options: node.RunOptions{Evals: 9}, fails: func(call int) bool { return call%2 == 0 }, done: 9, failed: 8},
		"in this run":        {options: node.RunOptions{Evals: 9, Failures: 3}, fails: func(call int) bool { return call%2 == 0 }, want: "too many evaluations have failed: 3 in this run failed, the last (trial 6): out of luck", done: 3, failed: 3},
		"broken later":       {options: node.RunOptions{Evals: 9}, fails: func(call int) bool { return call > 1 }, want: "too many evaluations have failed: 20 in a row failed, the last (trial 21): out of luck", done: 1, failed: 20},
		"in parallel":        {options: node.RunOptions{Evals: 12, Parallel: 4}, fails: func(call int) bool { return call%3 == 0 }, done: 12, failed: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := join(t, loopback(t), bowl, 1)
			err := s.Run(t.Context(), evaluations(c.fails), c.options)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if errors.Is(err, node.ErrTooManyFailures) != (c.want != "") || errors.Is(err, node.ErrNothingWorks) != c.nothingWorked {
				t.Errorf("kinds of %v", err)
			}
			counts := map[strategy.State]int{}
			for _, trial := range trialsOf(t, s) {
				counts[trial.State]++
			}
			if counts[strategy.Done] != c.done || c.failed >= 0 && counts[strategy.Failed] != c.failed || counts[strategy.Running] > 0 {
				t.Errorf("trials %v, want %d done and %d failed", counts, c.done, c.failed)
			}
		})
	}
}

// TestGivingUpIsNotForGood: each run counts its own failures, and those before it
// take nothing of its budget.
func TestGivingUpIsNotForGood(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	for range 2 {
		err := s.Run(t.Context(), evaluations(func(int) bool { return true }), node.RunOptions{Evals: 4})
		var gaveUp *node.GaveUpError
		if !errors.As(err, &gaveUp) || gaveUp.Count != 10 || gaveUp.Worked {
			t.Fatalf("got %v", err)
		}
	}
	if err := s.Run(t.Context(), evaluations(func(int) bool { return false }), node.RunOptions{Evals: 4}); err != nil {
		t.Fatal(err)
	}
	if trials := trialsOf(t, s); len(trials) != 24 {
		t.Errorf("%d trials, want 20 failed and 4 done", len(trials))
	}
	// An outcome of an earlier run tells that the command can work.
	err := s.Run(t.Context(), evaluations(func(int) bool { return true }), node.RunOptions{})
	if !errors.Is(err, node.ErrTooManyFailures) || errors.Is(err, node.ErrNothingWorks) || len(trialsOf(t, s)) != 44 {
		t.Errorf("%v after %d trials", err, len(trialsOf(t, s)))
	}
}
