package node_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/journal"
	fborandom "github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// hooked chooses designs at random, after a function.
type hooked struct {
	search.Search
	before func(ctx context.Context, trial uint64)
}

func (h hooked) Suggest(ctx context.Context, view strategy.View, trial uint64, seed fborandom.Seed) (strategy.Suggestion, error) {
	h.before(ctx, trial)
	if err := ctx.Err(); err != nil {
		return strategy.Suggestion{}, err
	}
	return h.Start(view, trial, seed)
}

// hookedModel fits after a function.
type hookedModel struct {
	surrogate.Model
	before func(ctx context.Context)
}

func (h hookedModel) Fit(ctx context.Context, obs surrogate.Observations, previous *surrogate.Hyperparameters, rng *rand.Rand) (surrogate.Hyperparameters, error) {
	h.before(ctx)
	return h.Model.Fit(ctx, obs, previous, rng)
}

// worker is an exchange that computes something at the start.
type worker struct{ run func(ctx context.Context) }

func (worker) Name() string                            { return "worker" }
func (worker) Decode(payload []byte) (any, error)      { return payload, nil }
func (w worker) work(ctx context.Context) (any, error) { w.run(ctx); return nil, ctx.Err() }

func (w worker) Step(_ strategy.View, in strategy.Input) []strategy.Output {
	if _, ok := in.(strategy.Start); !ok {
		return nil
	}
	return []strategy.Output{strategy.Work{Name: "sum", Run: func(ctx context.Context, _ strategy.View, _ fborandom.Seed) (any, error) {
		return w.work(ctx)
	}}}
}

// places are where a task may take its time, by the name that a warning gives them.
var reservations = map[string]func(t *testing.T, c *agent.Config, run func(ctx context.Context)){
	"the choice of trial 2": func(_ *testing.T, c *agent.Config, run func(ctx context.Context)) {
		c.Strategy = hooked{search.New(c.Task), func(ctx context.Context, trial uint64) {
			if trial > 1 {
				run(ctx)
			}
		}}
	},
	"what 1 observations teach": func(t *testing.T, c *agent.Config, run func(ctx context.Context)) {
		model, err := surrogate.New(c.Task)
		if err != nil {
			t.Fatal(err)
		}
		c.Model = hookedModel{model, run}
	},
	"worker: sum": func(t *testing.T, c *agent.Config, run func(ctx context.Context)) {
		registration, err := all.Strategies().Of(c.Task)
		if err != nil {
			t.Fatal(err)
		}
		exchanges, err := agent.NewExchanges(registration, strategy.Env{Task: c.Task, Key: c.Key})
		if err != nil {
			t.Fatal(err)
		}
		c.Exchanges = append(exchanges, worker{run})
	},
}

// closing closes a node with two tasks, each of which has an outcome and was asked for
// more, while in some place of each something takes for ever: whatever its context says,
// or until that ends. It returns how long that took in virtual time, the warnings, and
// the records of the first task.
func closing(t *testing.T, reservation string, listens bool) (took time.Duration, warnings []string, records []agent.Record) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		var mu sync.Mutex
		released := make(chan struct{})
		run := func(ctx context.Context) {
			if listens {
				<-ctx.Done()
			} else {
				<-released
			}
		}
		f.build = func(n *node.Node) {
			n.Alter(func(c *agent.Config) { reservations[reservation](t, c, run) })
			n.OnWarning = func(message string) {
				mu.Lock()
				defer mu.Unlock()
				warnings = append(warnings, message)
			}
		}
		n := f.add()
		other, err := n.node.Join(t.Context(), parse(t, strings.Replace(simTask, "simulated", "other", 1)), node.JoinOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*node.Session{n.session, other} {
			trial := ask(t, s)
			if err := s.Tell(t.Context(), trial.ID, 1); err != nil {
				t.Fatal(err)
			}
			go func() {
				if trial, err := s.Ask(context.Background()); err != nil && !errors.Is(err, node.ErrClosed) || err == nil && reservation != "worker: sum" {
					t.Errorf("asked at the end: %+v, %v", trial, err)
				}
			}()
		}
		synctest.Wait()
		begun := time.Now()
		if err := n.node.Close(); err != nil {
			t.Error(err)
		}
		took = time.Since(begun)
		before := recordsOf(t, n.node.Dir, f.task)
		close(released)
		synctest.Wait()
		if records = recordsOf(t, n.node.Dir, f.task); len(records) != len(before) {
			t.Errorf("%d records at Close, %d later", len(before), len(records))
		}
	})
	return took, warnings, records
}

func recordsOf(t *testing.T, dir string, spec *task.Task) []agent.Record {
	t.Helper()
	j, err := journal.Open(filepath.Join(dir, store.JournalFile), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	log, err := j.Log(spec.ID().String())
	if err != nil {
		t.Fatal(err)
	}
	records, err := store.ReadLog(log)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// checkOutcome demands that the outcome that was told is there, and that any further
// trial has been handed back.
func checkOutcome(t *testing.T, records []agent.Record) {
	t.Helper()
	trials, sentTo, returned := 0, 0, 0
	for _, r := range records {
		switch {
		case r.Trial != nil:
			trials++
		case r.Tell != nil:
			sentTo++
		case r.Return != nil:
			returned++
		}
	}
	if sentTo != 1 || trials != sentTo+returned {
		t.Errorf("the journal has %d trials, %d outcomes and %d handed back", trials, sentTo, returned)
	}
}

// What does not look at its context is left to itself within five seconds, and is named.
func TestCloseDoesNotWaitForEver(t *testing.T) {
	for reservation := range reservations {
		t.Run(reservation, func(t *testing.T) {
			took, warnings, records := closing(t, reservation, false)
			if took > 5*time.Second {
				t.Errorf("Close took %v", took)
			}
			if len(warnings) != 2 || !strings.Contains(warnings[0], reservation) || !strings.Contains(warnings[1], reservation) {
				t.Errorf("warnings %q, want %q for each task", warnings, reservation)
			}
			checkOutcome(t, records)
		})
	}
}

// What looks at its context is waited for, and does not keep anybody waiting.
func TestCloseEndsWhatListens(t *testing.T) {
	for reservation := range reservations {
		t.Run(reservation, func(t *testing.T) {
			took, warnings, records := closing(t, reservation, true)
			if took > 100*time.Millisecond || len(warnings) > 0 {
				t.Errorf("Close took %v, warnings %q", took, warnings)
			}
			checkOutcome(t, records)
		})
	}
}

// A strategy that panics costs one design what peers say, and ends no run; the stack is in
// the log, and the next start finds nothing amiss.
func TestAPanicOfTheStrategyEndsNoRun(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var warnings []string
	n := &node.Node{
		Strategies: all.Strategies(),
		Dir:        t.TempDir(),
		Listen:     []string{"/ip4/127.0.0.1/udp/0/quic-v1"},
		Log:        slog.New(slog.NewTextHandler(&log, nil)),
		OnWarning:  func(message string) { warnings = append(warnings, message) },
	}
	n.Alter(func(c *agent.Config) {
		var once sync.Once
		c.Strategy = hooked{search.New(c.Task), func(_ context.Context, trial uint64) {
			if trial == 3 {
				once.Do(func() { panic("boom") })
			}
		}}
	})
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := join(t, n, bowl, 1)
	evaluate(t, s, 4)
	if why := trialsOf(t, s)[2].Why.String(); !strings.HasSuffix(why, "alone, since the strategy failed") {
		t.Errorf("the third trial: %s", why)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); !strings.Contains(text, "close_test.go") || !strings.Contains(text, `msg="panic\n    at `) {
		t.Errorf("the log has no stack:\n%s", text)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "the strategy panicked: boom") {
		t.Errorf("warnings %q", warnings)
	}

	again := &node.Node{Strategies: all.Strategies(), Dir: n.Dir, Listen: n.Listen}
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	s = join(t, again, bowl, 1)
	if trials := trialsOf(t, s); len(trials) != 4 || trials[2].State != strategy.Done {
		t.Errorf("after a restart: %+v", trials)
	}
	evaluate(t, s, 5)
}
