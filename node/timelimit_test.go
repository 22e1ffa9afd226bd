package node_test

import (
	"context"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// TestTimeLimitEndsRun checks that no evaluation starts after the limit, that a running one ends as
// usual, and that the next run has its own limit.
func TestTimeLimitEndsRun(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	const limit = 200 * time.Millisecond
	long := func(ctx context.Context, _ task.Design) (float64, error) {
		time.Sleep(limit)
		return 1, ctx.Err()
	}
	for run := 1; run <= 2; run++ {
		if err := s.Run(t.Context(), long, node.RunOptions{Evals: 10, TimeLimit: limit}); err != nil {
			t.Fatal(err)
		}
		trials := trialsOf(t, s)
		if len(trials) > run || len(trials) == run && trials[run-1].State != strategy.Done {
			t.Fatalf("after run %d: %+v", run, trials)
		}
	}
	if err := s.Run(t.Context(), func(context.Context, task.Design) (float64, error) { return 1, nil }, node.RunOptions{Evals: 3, TimeLimit: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if trials := trialsOf(t, s); len(trials) != 3 {
		t.Errorf("with time left %d trials, want 3", len(trials))
	}
}

// TestTimeLimitEndsWaiting checks that the limit ends a run whose next design needs a party that is
// absent.
func TestTimeLimitEndsWaiting(t *testing.T) {
	t.Parallel()
	n := loopback(t)
	s := join(t, n, clitest.FairTask([]string{n.ID().String(), clitest.PartyA}, ""), 1)
	began, designs := time.Now(), 0
	evaluated := func(context.Context, task.Design) (float64, error) { designs++; return 1, nil }
	if err := s.Run(t.Context(), evaluated, node.RunOptions{TimeLimit: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 40*time.Second { // the node waits for a party for a minute
		t.Errorf("the run took %v, with %d designs", took, designs)
	}
}
