//go:build unix

package evaluator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fbo-node/fbo/task"
)

type testWorkers struct {
	*Workers
	dir string
}

func newTestWorkers(t testing.TB, manner string, args ...string) testWorkers {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "logs")
	w, err := NewWorkers(append([]string{os.Args[0], helperArgument, "worker", manner}, args...), dir)
	if err != nil {
		t.Fatal(err)
	}
	w.Grace, w.Env = 300*time.Millisecond, append(os.Environ(), quickExit)
	t.Cleanup(w.Close)
	return testWorkers{w, dir}
}

// evaluate asks for the value of a design whose parameter batch is trial.
func (w testWorkers) evaluate(t testing.TB, ctx context.Context, trial uint64) (Result, error) {
	t.Helper()
	return w.evaluateAnd(t, ctx, Trial{ID: trial}, nil)
}

// evaluateAnd is evaluate with a report; it sets the design.
func (w testWorkers) evaluateAnd(t testing.TB, ctx context.Context, trial Trial, report Report) (_ Result, err error) {
	t.Helper()
	if trial.Design, err = testSpace(t).ParseDesign(map[string]any{"learning_rate": 0.25, "batch": int64(trial.ID), "optimizer": "sgd"}); err != nil {
		t.Fatal(err)
	}
	return w.Evaluate(ctx, trial, report)
}

// processes lists who has evaluated, in order.
func (w testWorkers) processes(t testing.TB, trials uint64) (pids []string) {
	t.Helper()
	for trial := uint64(1); trial <= trials; trial++ {
		for _, line := range strings.Split(outputOf(t, w.dir, trial), "\n") {
			if pid, ok := strings.CutPrefix(line, "started "); ok && !slices.Contains(pids, pid) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// TestWorkerStays: one process evaluates all, whatever else it prints.
func TestWorkerStays(t *testing.T) {
	for _, manner := range []string{"plain", "noisy", "twice"} {
		for name, supervisor := range map[string][]string{"": nil, " supervised": supervisorLine()} {
			t.Run(manner+name, func(t *testing.T) {
				t.Parallel()
				w := newTestWorkers(t, manner)
				w.Supervisor = supervisor
				for trial := uint64(1); trial <= 20; trial++ {
					got, err := w.evaluate(t, t.Context(), trial)
					if err != nil || got.Value != float64(trial) {
						t.Fatalf("trial %d: %v, %v", trial, got, err)
					}
				}
				w.Close()
				if pids := w.processes(t, 20); len(pids) != 1 {
					t.Errorf("started %v", pids)
				}
				if kept := outputOf(t, w.dir, 20); manner == "noisy" && !strings.HasPrefix(kept, "loading\n{\"epoch\": 1}\n10%") {
					t.Errorf("kept %q", kept)
				}
			})
		}
	}
}

func TestWorkersInParallel(t *testing.T) {
	w := newTestWorkers(t, "plain")
	var all sync.WaitGroup
	for begin := range uint64(4) {
		all.Go(func() {
			for i := range uint64(25) {
				trial := 1 + begin*25 + i
				if got, err := w.evaluate(t, t.Context(), trial); err != nil || got.Value != float64(trial) {
					t.Errorf("trial %d: %v, %v", trial, got, err)
				}
			}
		})
	}
	all.Wait()
	w.Close()
	if pids := w.processes(t, 100); len(pids) == 0 || len(pids) > 4 {
		t.Errorf("started %v", pids)
	}
}

// TestWorkerEnds: who ends in a trial fails it, who ends between two does not.
func TestWorkerEnds(t *testing.T) {
	for _, c := range []struct {
		manner, at string
		fails      map[uint64]string
		starts     int
	}{
		{"dies-in", "3", map[uint64]string{3: `the worker exited with code 4 before it answered; the last line of its standard error is "out of luck"`}, 2},
		{"ends-after", "1", nil, 6},
		{"ends-after", "2", nil, 3},
		{"reports", "", map[uint64]string{1: `the worker reported the error "CUDA out of memory"`, 2: "", 3: "", 4: "", 5: "", 6: ""}, 1},
		{"nameless", "", map[uint64]string{1: `the worker printed "{\"value\": 1}", which does not say "trial": 1`, 2: "", 3: "", 4: "", 5: "", 6: ""}, 1},
		{"long-line", "", map[uint64]string{1: "the worker printed an object of more than", 2: "", 3: "", 4: "", 5: "", 6: ""}, 1},
	} {
		t.Run(c.manner+c.at, func(t *testing.T) {
			t.Parallel()
			w := newTestWorkers(t, c.manner, c.at)
			for trial := uint64(1); trial <= 6; trial++ {
				got, err := w.evaluate(t, t.Context(), trial)
				want, fails := c.fails[trial]
				var failure *Failure
				switch {
				case fails && !errors.As(err, &failure), fails && !strings.HasPrefix(err.Error(), want):
					t.Errorf("trial %d: got %v, want %q", trial, err, want)
				case !fails && (err != nil || got.Value != float64(trial)):
					t.Errorf("trial %d: %v, %v", trial, got, err)
				}
			}
			w.Close()
			if pids := w.processes(t, 6); len(pids) != c.starts {
				t.Errorf("started %v, want %d", pids, c.starts)
			}
		})
	}
}

// TestWorkerLeavesNothing: what a worker that ends in a trial has started ends too.
func TestWorkerLeavesNothing(t *testing.T) {
	for name, supervisor := range map[string][]string{"alone": nil, "supervised": supervisorLine()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTestWorkers(t, "leaves-child")
			w.Supervisor = supervisor
			_, err := w.evaluate(t, t.Context(), 1)
			if want := "the worker exited with code 4 before it answered"; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
			waitGone(t, childOf(t, testCommand{dir: w.dir}, 1))
		})
	}
}

// TestWorkerThatDiesAtOnce: each trial costs one start, and a pause that grows.
func TestWorkerThatDiesAtOnce(t *testing.T) {
	w := newTestWorkers(t, "dies-at-once")
	began := time.Now()
	for trial := uint64(1); trial <= 4; trial++ {
		_, err := w.evaluate(t, t.Context(), trial)
		want := `the worker exited with code 3 before it read the trial; the last line of its standard error is "no such module" (see ` +
			filepath.Join(w.dir, "trial-"+strconv.FormatUint(trial, 10)+".log") + ")"
		if err == nil || err.Error() != want {
			t.Errorf("trial %d: got %v, want %q", trial, err, want)
		}
	}
	if took, least := time.Since(began), firstPause*(1+2+4); took < least {
		t.Errorf("four starts within %v, want pauses of %v in all", took, least)
	}
}

func TestBackoff(t *testing.T) {
	for failed, want := range map[int]time.Duration{0: 0, 1: firstPause, 2: 2 * firstPause, 100: lastPause, 1 << 30: lastPause} {
		if got := backoff(failed); got != want {
			t.Errorf("after %d: %v, want %v", failed, got, want)
		}
	}
}

// TestWorkerTakesTooLong: the group is ended, and the next trial gets a new process.
func TestWorkerTakesTooLong(t *testing.T) {
	w := newTestWorkers(t, "sleeps-in", "2")
	if _, err := w.evaluate(t, t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	limit := errors.New("the limit was reached")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		waitForOutput(t, w.dir, 2, "child ")
		cancel(limit)
	}()
	_, err := w.evaluate(t, ctx, 2)
	if !errors.Is(err, limit) || !strings.HasPrefix(err.Error(), "the worker was stopped: the limit was reached") {
		t.Errorf("got %v", err)
	}
	waitGone(t, childOf(t, testCommand{dir: w.dir}, 2))
	if got, err := w.evaluate(t, t.Context(), 3); err != nil || got.Value != 3 {
		t.Errorf("then %v, %v", got, err)
	}
	w.Close()
	if pids := w.processes(t, 3); len(pids) != 2 {
		t.Errorf("started %v", pids)
	}
}

// TestWorkerThatIgnoresTheEnd is killed.
func TestWorkerThatIgnoresTheEnd(t *testing.T) {
	w := newTestWorkers(t, "stays")
	if _, err := w.evaluate(t, t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	w.Close()
	pids := w.processes(t, 1)
	if len(pids) != 1 {
		t.Fatalf("started %v", pids)
	}
	pid, err := strconv.Atoi(pids[0])
	if err != nil {
		t.Fatal(err)
	}
	waitGone(t, pid)
}

func TestNewWorkersRejects(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "no command"},
		{[]string{"surely-no-such-command"}, "not found"},
		{[]string{os.Args[0], "--lr={lr}"}, `argument "--lr={lr}": {lr} has no value, since a worker is started once`},
	} {
		if _, err := NewWorkers(c.args, t.TempDir()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.args, err, c.want)
		}
	}
	w, err := NewWorkers([]string{os.Args[0], "{{lr}}", `{"a": 1}`}, t.TempDir())
	if err != nil || w.Args[1] != "{lr}" || w.Args[2] != `{"a": 1}` {
		t.Errorf("got %q, %v", w.Args, err)
	}
}

// What a trial costs beyond the training when the command stays.
func BenchmarkWorkers(b *testing.B) {
	w := newTestWorkers(b, "plain")
	design := task.Design{}
	for trial := range b.N {
		var err error
		if trial == 0 {
			if design, err = testSpace(b).ParseDesign(map[string]any{"learning_rate": 0.25, "batch": 1, "optimizer": "sgd"}); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := w.Evaluate(b.Context(), Trial{ID: uint64(trial + 1), Design: design}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
