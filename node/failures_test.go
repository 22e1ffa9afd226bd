package node_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
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

// TestRunGivesUp: which failures end a run, and which do not.
func TestRunGivesUp(t *testing.T) {
	t.Parallel()
	always := func(int) bool { return true }
	for name, c := range map[string]struct {
		options       node.RunOptions
		fails         func(call int) bool
		want          string // of the error; empty: none
		done, failed  int
		nothingWorked bool
	}{
		"first ten":         {options: node.RunOptions{Evals: 2}, fails: always, want: "no evaluation has worked: 10 in a row failed, the last (trial 10): out of luck", failed: 10, nothingWorked: true},
		"unlucky":           {options: node.RunOptions{Evals: 2}, fails: func(call int) bool { return call <= 9 }, done: 2, failed: 9},
		"a limit below ten": {options: node.RunOptions{MaxFailures: 2}, fails: always, want: "no evaluation has worked: 2 in this run failed, the last (trial 2): out of luck", failed: 2, nothingWorked: true},
		"a limit above ten": {options: node.RunOptions{Evals: 3, MaxFailures: 13}, fails: func(call int) bool { return call <= 12 }, done: 3, failed: 12},
		"half of the space": {options: node.RunOptions{Evals: 9}, fails: func(call int) bool { return call%2 == 0 }, done: 9, failed: 8},
		"in this run":       {options: node.RunOptions{Evals: 9, MaxFailures: 3}, fails: func(call int) bool { return call%2 == 0 }, want: "too many evaluations have failed: 3 in this run failed, the last (trial 6): out of luck", done: 3, failed: 3},
		"broken later":      {options: node.RunOptions{Evals: 9}, fails: func(call int) bool { return call > 1 }, want: "too many evaluations have failed: 20 in a row failed, the last (trial 21): out of luck", done: 1, failed: 20},
		"in parallel":       {options: node.RunOptions{Evals: 12, Parallel: 4}, fails: func(call int) bool { return call%3 == 0 }, done: 12, failed: -1},
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

// TestFailuresAreExpectedWhenSuggested: twenty designs that were suggested while nothing had failed
// end a run, although the model knows that region by the time at which the last ones fail.
func TestFailuresAreExpectedWhenSuggested(t *testing.T) {
	t.Parallel()
	const parallel = 20
	spec := parse(t, strings.ReplaceAll(bowl, "fts", "alone"))
	design := func(x, y int) task.Design {
		d, err := spec.Space.ParseDesign(map[string]any{"x": float64(x) / 10, "y": float64(y) / 10})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	options := node.JoinOptions{Seed: new(uint64(1)), Enqueue: []task.Design{design(15, 0)}}
	var past []agent.Past
	for i := range parallel {
		options.Enqueue = append(options.Enqueue, design(i-parallel, 3*(i%5)-6))
		past = append(past, agent.Past{Design: design(i+1, 3*(i%5)-6), Outcome: strategy.Outcome{Value: 1}})
	}
	s, err := loopback(t).Join(t.Context(), spec, options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Import(t.Context(), past); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), evaluations(func(int) bool { return false }), node.RunOptions{Evals: 1}); err != nil {
		t.Fatal(err)
	}
	var started sync.WaitGroup
	var calls, known atomic.Int32
	started.Add(parallel)
	err = s.Run(t.Context(), func(ctx context.Context, d task.Design) (float64, error) {
		turn := int(calls.Add(1))
		if turn > parallel { // an outcome would begin the count anew
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(patience):
				return 1, nil
			}
		}
		started.Done()
		started.Wait()
		for failed := 0; failed != turn-1; { // View waits until the model knows the failures before
			view, err := s.View(ctx)
			if err != nil {
				return 0, err
			}
			failed = 0
			for _, trial := range view.Trials {
				if trial.State == strategy.Failed {
					failed++
				}
			}
			if failed == turn-1 && view.Completion != nil {
				known.Add(1)
			}
		}
		return 0, errors.New("out of luck")
	}, node.RunOptions{Evals: 2 * parallel, Parallel: parallel})
	var gaveUp *node.GaveUpError
	if !errors.As(err, &gaveUp) || gaveUp.Count != parallel || gaveUp.Unexpected || known.Load() == 0 {
		t.Errorf("%v; %d of the failures came when the model knew others, want some", err, known.Load())
	}
}
