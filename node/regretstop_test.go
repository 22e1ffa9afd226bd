package node_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func startIn(t *testing.T, dir string) *node.Node {
	t.Helper()
	n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: loopbackAddresses()}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// A run ends by itself when the bowl's bottom is found for sure, whatever the number of
// evaluators. The journal says why, so that the same run ends at once, also after a
// restart, and one that asks for less goes on.
func TestARunEndsWhenItsRegretIsSmall(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{1, 3} {
		dir := t.TempDir()
		n := startIn(t, dir)
		s := join(t, n, bowl, 1)
		options := node.RunOptions{Evals: 60, StopRegret: 1, Parallel: parallel}
		if err := s.Run(t.Context(), sphere, options); err != nil {
			t.Fatal(err)
		}
		evals := len(trialsOf(t, s))
		stopped, err := s.Stopped(t.Context())
		if err != nil || stopped == nil || stopped.StopRegret != 1 || !(stopped.RegretBound <= 1) || stopped.Observations > evals || stopped.Observations < evals-parallel+1 {
			t.Fatalf("%d evaluators: %d trials, stopped %+v, %v", parallel, evals, stopped, err)
		}
		best, err := s.Best(t.Context())
		if err != nil || evals >= 60 || evals < 2*10 || best.Outcome.Value > stopped.RegretBound {
			t.Errorf("%d evaluators: %d trials, the best has %+v, and the bound is %g: %v", parallel, evals, best.Outcome, stopped.RegretBound, err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}

		s = join(t, startIn(t, dir), bowl, 1)
		if err := s.Run(t.Context(), sphere, options); err != nil || len(trialsOf(t, s)) != evals {
			t.Errorf("%d evaluators: the same again makes %d trials of %d: %v", parallel, len(trialsOf(t, s)), evals, err)
		}
		options.Evals, options.StopRegret = evals+2, 1e-9
		if err := s.Run(t.Context(), sphere, options); err != nil || len(trialsOf(t, s)) != evals+2 {
			t.Errorf("%d evaluators: for less regret %d trials, want %d: %v", parallel, len(trialsOf(t, s)), evals+2, err)
		}
		if stopped, err := s.Stopped(t.Context()); stopped != nil || err != nil {
			t.Errorf("%d evaluators: after further trials it is said why a run has ended: %+v, %v", parallel, stopped, err)
		}
	}
}

// Nothing but StopRegret ends a run thus, and a run that ends otherwise leaves no word of it.
func TestOtherEndsAreNotStopped(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	if bound, err := s.RegretBound(t.Context()); err != nil || !math.IsInf(bound, 1) {
		t.Errorf("with no outcome the bound is %g, %v", bound, err)
	}
	if err := s.Run(t.Context(), sphere, node.RunOptions{Evals: 6, StopRegret: 1e-9}); err != nil {
		t.Fatal(err)
	}
	if bound, err := s.RegretBound(t.Context()); err != nil || !(bound > 0) || math.IsInf(bound, 1) {
		t.Errorf("after 6 outcomes the bound is %g, %v", bound, err)
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := s.Run(ctx, func(context.Context, task.Design) (float64, error) {
		cancel(stop)
		return 0, nil
	}, node.RunOptions{StopRegret: 1e9}); !errors.Is(err, stop) {
		t.Errorf("a run that was stopped ends with %v", err)
	}
	if stopped, err := s.Stopped(t.Context()); stopped != nil || err != nil {
		t.Errorf("stopped %+v, %v", stopped, err)
	}
}

func TestRegretsThatNoRunEndsBy(t *testing.T) {
	t.Parallel()
	n := loopback(t)
	s := join(t, n, bowl, 1)
	for _, regret := range []float64{-1, math.NaN(), math.Inf(1)} {
		if err := s.Run(t.Context(), sphere, node.RunOptions{StopRegret: regret}); err == nil || !strings.Contains(err.Error(), "StopRegret is") {
			t.Errorf("%g: error %v", regret, err)
		}
	}
	limited := join(t, n, strings.Replace(bowl, "fts", "logei", 1)+"constraints: [{name: c, high: 1}]\n", 1)
	if err := limited.Run(t.Context(), sphere, node.RunOptions{StopRegret: 1}); err == nil || !strings.Contains(err.Error(), "for tasks without constraints") {
		t.Errorf("error %v", err)
	}
}
