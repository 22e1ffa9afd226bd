package node_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func ask(t *testing.T, s *node.Session) strategy.Trial {
	t.Helper()
	trial, err := s.Ask(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return trial
}

func trialsOf(t *testing.T, s *node.Session) []strategy.Trial {
	t.Helper()
	trials, err := s.Trials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return trials
}

func TestTellAndFail(t *testing.T) {
	t.Parallel()
	s, ctx := join(t, loopback(t), bowl, 1), t.Context()
	first, second := ask(t, s), ask(t, s)
	if first.ID != 1 || second.ID != 2 || first.Design.Equal(second.Design) {
		t.Errorf("asked %v and %v", first, second)
	}
	if best, err := s.Best(ctx); best != nil || err != nil {
		t.Errorf("best %v, %v before any outcome", best, err)
	}
	for i, c := range []struct {
		got, want error
	}{
		{s.Tell(ctx, 3, 1), agent.ErrUnknownTrial},
		{s.Tell(ctx, 0, 1), agent.ErrUnknownTrial},
		{s.Fail(ctx, 3, "x"), agent.ErrUnknownTrial},
		{s.Tell(ctx, 1, math.NaN()), agent.ErrBadOutcome},
		{s.Tell(ctx, 1, math.Inf(-1)), agent.ErrBadOutcome},
		{s.TellOutcome(ctx, 1, strategy.Outcome{Constraints: map[string]task.Reading{"c": task.Number(math.Inf(1))}}), agent.ErrBadOutcome},
		{s.Tell(ctx, 1, 0.5), nil},
		{s.Tell(ctx, 1, 0.5), nil}, // the same again, as after a lost answer
		{s.Tell(ctx, 1, 0.6), agent.ErrFinished},
		{s.Fail(ctx, 1, "x"), agent.ErrFinished},
		{s.Fail(ctx, 2, "no luck"), nil},
		{s.Fail(ctx, 2, "no luck"), nil},
		{s.Tell(ctx, 2, 1), agent.ErrFinished},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("case %d: got %v, want %v", i, c.got, c.want)
		}
	}
	trials := trialsOf(t, s)
	if trials[0].Outcome.Value != 0.5 || trials[1].State != strategy.Failed || trials[1].Reason != "no luck" || len(trials) != 2 {
		t.Errorf("trials %+v", trials)
	}
	if best, err := s.Best(ctx); err != nil || best.ID != 1 {
		t.Errorf("best %v, %v", best, err)
	}
}

func TestImportTwice(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	design, err := s.Task().Space.NewDesign(task.FloatValue(1), task.FloatValue(2))
	if err != nil {
		t.Fatal(err)
	}
	past := []agent.Past{{Design: design, Outcome: strategy.Outcome{Value: 3}}, {Design: design, Outcome: strategy.Outcome{Value: 4}}}
	for _, want := range []int{2, 0} {
		if added, err := s.Import(t.Context(), past); added != want || err != nil {
			t.Errorf("added %d, %v; want %d", added, err, want)
		}
	}
	bad := append(past, agent.Past{Design: design, Outcome: strategy.Outcome{Value: math.NaN()}})
	if added, err := s.Import(t.Context(), bad); added != 0 || !errors.Is(err, agent.ErrBadOutcome) {
		t.Errorf("added %d, %v", added, err)
	}
	if n := len(trialsOf(t, s)); n != 2 {
		t.Errorf("%d trials", n)
	}
}

// TestCancelledAskHandsTheTrialBack: many cancellations at every moment of a
// choice lose no trial and leave none running.
func TestCancelledAskHandsTheTrialBack(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	asked := map[uint64]bool{}
	for i := range 40 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*500*time.Microsecond)
		trial, err := s.Ask(ctx)
		cancel()
		switch {
		case err == nil:
			asked[trial.ID] = true
		case !errors.Is(err, context.DeadlineExceeded):
			t.Fatal(err)
		}
	}
	for _, trial := range trialsOf(t, s) {
		if (trial.State == strategy.Running) != asked[trial.ID] || trial.Attempts > 1 {
			t.Errorf("trial %d is %s with %d attempts, asked for: %v", trial.ID, trial.State, trial.Attempts, asked[trial.ID])
		}
	}
	// What was handed back comes before anything new.
	for _, trial := range trialsOf(t, s) {
		if trial.State == strategy.Waiting {
			if next := ask(t, s); next.ID != trial.ID || next.Attempts != 1 {
				t.Errorf("got trial %d at attempt %d, want %d at 1", next.ID, next.Attempts, trial.ID)
			}
		}
	}
}

func TestRunSurvivesPanicsAndBadValues(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	var calls atomic.Int32
	err := s.Run(t.Context(), func(context.Context, task.Design) (float64, error) {
		switch calls.Add(1) {
		case 2:
			panic("division by zero")
		case 3:
			return math.NaN(), nil
		case 4:
			return 0, errors.New("out of luck")
		}
		return 1, nil
	}, node.RunOptions{Evals: 2})
	if err != nil {
		t.Fatal(err)
	}
	trials := trialsOf(t, s)
	for i, want := range []string{"", "the evaluator panicked: division by zero", "not a finite number", "out of luck", ""} {
		trial := trials[i]
		if !strings.Contains(trial.Reason, want) || (want == "") != (trial.State == strategy.Done) {
			t.Errorf("trial %+v, want %q", trial, want)
		}
	}
}

func TestRunOptionsAreChecked(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	evaluate := func(context.Context, task.Design) (float64, error) { return 0, nil }
	for _, options := range []node.RunOptions{{Evals: -1}, {MaxFailures: -1}, {Parallel: -1}, {TrialTimeout: -1}} {
		if err := s.Run(t.Context(), evaluate, options); err == nil || !strings.Contains(err.Error(), "-1") || !strings.Contains(err.Error(), "expected 0") {
			t.Errorf("%+v: %v", options, err)
		}
	}
}

// TestRunCancelled: what ran is handed back by the evaluators that stop, and
// the next run takes it up without a second attempt.
func TestRunCancelled(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	ctx, cancel := context.WithCancel(t.Context())
	var admitted sync.WaitGroup
	admitted.Add(3)
	go func() { admitted.Wait(); cancel() }() // all three at once
	err := s.Run(ctx, func(ctx context.Context, _ task.Design) (float64, error) {
		admitted.Done()
		<-ctx.Done()
		return 0, ctx.Err()
	}, node.RunOptions{Parallel: 3})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	for _, trial := range trialsOf(t, s) {
		if trial.State != strategy.Waiting || trial.Attempts != 0 {
			t.Errorf("trial %+v", trial)
		}
	}
	if err := s.Run(t.Context(), func(context.Context, task.Design) (float64, error) { return 1, nil }, node.RunOptions{Evals: 3}); err != nil {
		t.Fatal(err)
	}
	for _, trial := range trialsOf(t, s) {
		if trial.State != strategy.Done || trial.Attempts != 1 || trial.ID > 3 {
			t.Errorf("trial %+v", trial)
		}
	}
}

func TestTrialTimeout(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	first := true
	err := s.Run(t.Context(), func(ctx context.Context, _ task.Design) (float64, error) {
		if first {
			first = false
			<-ctx.Done()
			return 0, ctx.Err()
		}
		return 1, nil
	}, node.RunOptions{Evals: 1, TrialTimeout: time.Second})
	trials := trialsOf(t, s)
	if err != nil || trials[0].Reason != "no outcome within the trial timeout of 1s" || len(trials) != 2 {
		t.Errorf("%v, trials %+v", err, trials)
	}
}

func TestLeaseEndsAnAskedTrial(t *testing.T) {
	t.Parallel()
	s, err := loopback(t).Join(t.Context(), parse(t, bowl), node.JoinOptions{Lease: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	trial := ask(t, s)
	eventually(t, "the end of the lease", func() bool { return trialsOf(t, s)[0].State == strategy.Failed })
	if err := s.Tell(t.Context(), trial.ID, 1); !errors.Is(err, agent.ErrFinished) {
		t.Errorf("telling too late: %v", err)
	}
}

func TestClosedSession(t *testing.T) {
	t.Parallel()
	n := loopback(t)
	s := join(t, n, bowl, 1)
	trial := ask(t, s)
	var closing sync.WaitGroup
	for range 4 {
		closing.Go(func() {
			if err := s.Close(); err != nil {
				t.Error("Close:", err)
			}
		})
	}
	closing.Wait()
	ctx := t.Context()
	_, askErr := s.Ask(ctx)
	_, trialsErr := s.Trials(ctx)
	_, statusErr := s.Status(ctx)
	_, importErr := s.Import(ctx, nil)
	for i, err := range []error{askErr, trialsErr, statusErr, importErr, s.Tell(ctx, trial.ID, 1), s.Fail(ctx, trial.ID, "x"),
		s.Run(ctx, func(context.Context, task.Design) (float64, error) { return 0, nil }, node.RunOptions{})} {
		if !errors.Is(err, node.ErrClosed) {
			t.Errorf("call %d after Close: %v", i, err)
		}
	}
	// The same task can be joined again, and what ran is offered again.
	s = join(t, n, bowl, 2)
	if again := ask(t, s); again.ID != trial.ID || again.Attempts != 1 {
		t.Errorf("asked %+v after joining again", again)
	}
}

// TestCloseDuringAskAndRun: nobody is left waiting.
func TestCloseDuringAskAndRun(t *testing.T) {
	t.Parallel()
	n := loopback(t)
	s := join(t, n, bowl, 1)
	started := make(chan struct{})
	var once sync.Once
	ended := make(chan error)
	go func() {
		ended <- s.Run(t.Context(), func(ctx context.Context, _ task.Design) (float64, error) {
			once.Do(func() { close(started) }) // there may be a second evaluation before Close
			time.Sleep(50 * time.Millisecond)  // an evaluator that does not listen
			return 1, nil
		}, node.RunOptions{})
	}()
	<-started
	for range 3 {
		go func() {
			for {
				if _, err := s.Ask(context.Background()); err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	if err := n.Close(); err != nil {
		t.Error("Close:", err)
	}
	for range 4 {
		select {
		case err := <-ended:
			if !errors.Is(err, node.ErrClosed) {
				t.Errorf("ended with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("somebody waits for ever")
		}
	}
}

// TestJournalFailure: a disk that does not take a write ends the session before
// anything is acknowledged.
func TestJournalFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var mu sync.Mutex
	var warnings []string
	n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: loopbackAddresses(), OnWarning: func(m string) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, m)
	}}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := join(t, n, bowl, 1)
	first, second := ask(t, s), ask(t, s)
	if err := s.Tell(t.Context(), first.ID, 1); err != nil {
		t.Fatal(err)
	}
	if err := n.CloseJournal(); err != nil {
		t.Fatal(err)
	}
	const want = `task "bowl" stops, because its journal cannot be written: `
	_, askErr := s.Ask(t.Context())
	_, trialsErr := s.Trials(t.Context())
	for i, err := range []error{s.Tell(t.Context(), second.ID, 2), askErr, trialsErr, s.Close(), s.Close()} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if err := n.Close(); err != nil {
		t.Errorf("Close of the node, whose session told already: %v", err)
	}
	// A copy of the journal may be in progress; it ends with a warning of its own.
	mu.Lock()
	others := slices.DeleteFunc(slices.Clone(warnings), func(w string) bool { return strings.HasPrefix(w, "the journal has no new copy") })
	mu.Unlock()
	if len(others) != 1 || !strings.HasPrefix(others[0], want) {
		t.Errorf("warnings %q", warnings)
	}

	n = &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: loopbackAddresses()}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	trials := trialsOf(t, join(t, n, bowl, 1))
	if len(trials) != 2 || trials[0].State != strategy.Done || trials[1].Outcome != nil || trials[1].State != strategy.Waiting {
		t.Errorf("after the failure: %+v", trials)
	}
}

// TestJournalFailureStopsEvaluation checks that a run ends at once, with an evaluation whose
// outcome cannot be recorded, and that OnFailure gets the error in place of OnWarning.
func TestJournalFailureStopsEvaluation(t *testing.T) {
	t.Parallel()
	n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses(), OnWarning: func(m string) {
		if strings.Contains(m, "journal cannot be written") {
			t.Errorf("also a warning: %s", m)
		}
	}}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	failed := make(chan error, 1)
	s, err := n.Join(t.Context(), parse(t, bowl), node.JoinOptions{Wait: -1, OnFailure: func(err error) { failed <- err }})
	if err != nil {
		t.Fatal(err)
	}
	ran := s.Run(t.Context(), func(ctx context.Context, _ task.Design) (float64, error) {
		if err := n.CloseJournal(); err != nil {
			t.Error(err)
		}
		_, _ = s.Ask(ctx) // cannot be recorded
		<-ctx.Done()
		return 0, ctx.Err()
	}, node.RunOptions{Evals: 1})
	if err := <-failed; ran == nil || ran.Error() != err.Error() || !errors.Is(ran, err) {
		t.Errorf("Run: %v, OnFailure: %v", ran, err)
	}
}

func TestJournalFailureStopsRun(t *testing.T) {
	t.Parallel()
	n := loopback(t)
	s := join(t, n, bowl, 1)
	calls := 0
	err := s.Run(t.Context(), func(context.Context, task.Design) (float64, error) {
		if calls++; calls == 3 {
			if err := n.CloseJournal(); err != nil {
				t.Error(err)
			}
		}
		return 1, nil
	}, node.RunOptions{Evals: 9})
	if err == nil || !strings.Contains(err.Error(), "journal cannot be written") || calls != 3 {
		t.Errorf("Run: %v after %d evaluations", err, calls)
	}
	_ = s.Close() // returns the same error again
}

// A context may end before Tell is carried out or after it: the error says which.
func TestTellReportsWhetherItRecordedBeforeTheContextEnded(t *testing.T) {
	t.Parallel()
	s := join(t, loopback(t), bowl, 1)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 8 {
		trial := ask(t, s)
		err := s.Tell(ended, trial.ID, 1)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("Tell with an ended context: %v", err)
		}
		want := node.Done
		if err != nil {
			want = node.Running
		}
		if state := trialsOf(t, s)[trial.ID-1].State; state != want {
			t.Errorf("trial %d is %s after the error %v, expected %s", trial.ID, state, err, want)
		}
		if err := s.Tell(t.Context(), trial.ID, 1); err != nil {
			t.Errorf("Tell of the same outcome again: %v", err)
		}
	}
}
