package baseline

import (
	"fmt"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// federation is a pool with the view of every member.
type federation struct {
	task  *task.Task
	model surrogate.Model
	pool  *Pool
	views []strategy.View
}

func newTask(tb testing.TB, kernel string, dim int) *task.Task {
	tb.Helper()
	var parameters []task.Parameter
	for i := range dim {
		parameters = append(parameters, task.Parameter{Name: fmt.Sprintf("x%d", i), Kind: task.Float, Low: 0, High: 1})
	}
	space, err := task.NewSpace(parameters)
	if err != nil {
		tb.Fatal(err)
	}
	return &task.Task{Name: "test", Goal: task.Minimize, Space: space,
		Surrogate: task.Surrogate{Type: "exact", Kernel: kernel, Features: 64, Basis: "quasi", Lengthscale: 0.1 * float64(dim), CategoryLengthscale: 1},
		Strategy:  task.Strategy{Type: "ts", InitialDesigns: 3},
	}
}

// newFederation has so many members without observations.
func newFederation(tb testing.TB, kernel string, dim, members int) *federation {
	tb.Helper()
	f := &federation{task: newTask(tb, kernel, dim), views: make([]strategy.View, members)}
	var err error
	if f.model, err = surrogate.New(f.task); err != nil {
		tb.Fatal(err)
	}
	if f.pool, err = NewPool(f.task, members); err != nil {
		tb.Fatal(err)
	}
	for i := range f.views {
		f.views[i].Task = f.task
	}
	return f
}

// hill is a function to maximise with its top at the given place, the same in
// all coordinates; unlike its mirror image it orders points as others with a
// near top do.
func hill(top float64) func(x []float64) float64 {
	return func(x []float64) float64 {
		sum := 0.0
		for _, u := range x {
			sum += math.Exp(-8 * (u - top) * (u - top))
		}
		return sum
	}
}

func negative(f func(x []float64) float64) func(x []float64) float64 {
	return func(x []float64) float64 { return -f(x) }
}

// observe evaluates a member's function at so many uniform designs. h, when not
// nil, are its hyperparameters, which otherwise are learned.
func (f *federation) observe(tb testing.TB, member int, value func(x []float64) float64, count int, h *surrogate.Hyperparameters) {
	tb.Helper()
	rng := random.SeedOf(uint64(member)).Stream("designs", 0)
	for range count {
		f.tell(member, f.task.Space.Decode(acquisition.Sample(f.task.Space, rng)), value)
	}
	f.learn(tb, member, h)
}

// tell adds a trial to a member's view. The task minimises.
func (f *federation) tell(member int, design task.Design, value func(x []float64) float64) {
	view := &f.views[member]
	view.Trials = append(view.Trials, strategy.Trial{
		ID: uint64(len(view.Trials) + 1), Design: design, State: strategy.Done,
		Outcome: &strategy.Outcome{Value: -value(f.task.Space.Encode(design))},
	})
	view.Observations++
}

// learn brings a member's posterior up to date and tells the pool.
func (f *federation) learn(tb testing.TB, member int, h *surrogate.Hyperparameters) {
	tb.Helper()
	view := &f.views[member]
	obs := f.pool.observations(*view)
	if h == nil {
		learned, err := f.model.Fit(tb.Context(), obs, nil, random.SeedOf(1).Stream("fit", uint64(view.Observations)))
		if err != nil {
			tb.Fatal(err)
		}
		h = &learned
	}
	var err error
	if view.Posterior, err = f.model.Condition(obs, *h, nil); err != nil {
		tb.Fatal(err)
	}
	f.pool.Watch(member, *view)
}

// suggest asks a strategy for the next design of a member.
func (f *federation) suggest(tb testing.TB, s strategy.Strategy, member int, seed random.Seed) strategy.Suggestion {
	tb.Helper()
	got, err := s.Suggest(tb.Context(), f.views[member], uint64(len(f.views[member].Trials)+1), seed)
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// smooth are fixed hyperparameters, for tests that learn none.
func smooth(dim int) *surrogate.Hyperparameters {
	h := &surrogate.Hyperparameters{Noise: 1e-3}
	for range dim {
		h.Lengthscales = append(h.Lengthscales, 0.5)
	}
	return h
}

// methods are all strategies that read a pool.
var methods = map[string]func(*task.Task, *Pool, int) strategy.Strategy{
	"rgpe":              NewRGPE,
	"taf":               NewTAF,
	"pooled":            in(OwnUnits, NewPooled),
	"multitask":         in(OwnUnits, NewMultitask),
	"pooled, common":    in(CommonUnits, NewPooled),
	"multitask, common": in(CommonUnits, NewMultitask),
}

// pooledMethods are those of them that are of one process.
var pooledMethods = []string{"pooled", "multitask", "pooled, common", "multitask, common"}

func in(units Units, make func(*task.Task, *Pool, int, Units) strategy.Strategy) func(*task.Task, *Pool, int) strategy.Strategy {
	return func(t *task.Task, pool *Pool, self int) strategy.Strategy { return make(t, pool, self, units) }
}

// kinds are all kinds of one process.
var kinds = []kind{{false, OwnUnits}, {true, OwnUnits}, {false, CommonUnits}, {true, CommonUnits}}

var kernels = []string{gp.SE, gp.Matern52}
