package search_test

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

const neighbourhood = 1.0 / 64

var spaces = map[string]string{
	"floats":     "{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: -3, high: 8}",
	"log":        "{name: x, type: float, low: 1.0e-6, high: 1, scale: log}, {name: n, type: int, low: 1, high: 4096, scale: log}",
	"ints":       "{name: m, type: int, low: 1, high: 30}, {name: n, type: int, low: 0, high: 1000000}",
	"categories": "{name: c, type: categorical, choices: [a, b, c, d]}, {name: d, type: categorical, choices: [a, b, c, d, e]}",
	"mixed":      "{name: x, type: float, low: 0, high: 1}, {name: n, type: int, low: 1, high: 9}, {name: c, type: categorical, choices: [a, b, c]}",
}

func newTask(t testing.TB, parameters string) *task.Task {
	t.Helper()
	return strategytest.Task(t, all.Strategies(), "name: search\ngoal: maximize\nparameters: [%s]\nstrategy: {type: ts, initial_designs: 1}", parameters)
}

// linear is a function whose maximum is in a corner.
type linear []float64

func (l linear) Value(x []float64) float64 {
	sum := 0.0
	for i, slope := range l {
		sum += slope * x[i]
	}
	return sum
}

func (l linear) Gradient(grad, x []float64) float64 {
	copy(grad, l)
	return l.Value(x)
}

// model knows the function f with a variance that is the same everywhere.
type model struct {
	surrogate.Posterior
	f               linear
	variance, noise float64
}

func (m model) Predict(x []float64) (mean, variance float64) { return m.f.Value(x), m.variance }
func (m model) Hyperparameters() surrogate.Hyperparameters {
	return surrogate.Hyperparameters{Noise: m.noise}
}

func with(view strategy.View, design task.Design, state strategy.State) strategy.View {
	view.Trials = append(view.Trials[:len(view.Trials):len(view.Trials)],
		strategy.Trial{ID: uint64(len(view.Trials) + 1), Design: design, State: state, Outcome: &strategy.Outcome{}})
	return view
}

func distance(space *task.Space, a, b task.Design) float64 {
	largest, x := 0.0, space.Encode(a)
	for i, u := range space.Encode(b) {
		largest = max(largest, math.Abs(u-x[i]))
	}
	return largest
}

func TestTriedDesignsAreNotSuggested(t *testing.T) {
	checkTried(t, func(t *testing.T, property func(*rapid.T)) { fbotest.CheckFew(t, 10, property) })
}

// checkTried checks spaces of every kind with few tried designs. Each suggestion is new, has its
// source, and is outside of all neighbourhoods if the maximiser was tried. A second call returns
// the same design.
func checkTried(t *testing.T, check func(*testing.T, func(*rapid.T))) {
	for name, parameters := range spaces {
		t.Run(name, func(t *testing.T) {
			definition := newTask(t, parameters)
			s, space := search.New(definition), definition.Space
			check(t, func(t *rapid.T) {
				seed := random.SeedOf(rapid.Uint64().Draw(t, "seed"))
				f := make(linear, space.Dim())
				for i := range f {
					f[i] = rapid.SampledFrom([]float64{-1, -0.3, 0.1, 0.5}).Draw(t, "slope")
				}
				view := strategy.View{Task: definition, Posterior: model{f: f, variance: 1e-8, noise: 1e-4}}
				for id := uint64(1); id <= 5; id++ {
					got := maximise(t, s, view, id, seed, f, strategy.Why{Source: strategy.Own})
					if again := maximise(t, s, view, id, seed, f, strategy.Why{Source: strategy.Own}); !again.Design.Equal(got.Design) || again.Why != got.Why {
						t.Fatalf("trial %d, asked twice: %v and %v", id, got, again)
					}
					if got.Why.Source != strategy.Own || got.Why.RepeatOf != 0 || got.Why.NextBest >= id {
						t.Fatalf("trial %d: %+v", id, got.Why)
					}
					for _, trial := range view.Trials {
						if d := distance(space, trial.Design, got.Design); d == 0 || got.Why.NextBest > 0 && d < neighbourhood-1e-9 {
							t.Fatalf("trial %d, %v, is %g from trial %d, %v", id, got.Design, d, trial.ID, trial.Design)
						}
					}
					state := rapid.SampledFrom([]strategy.State{strategy.Done, strategy.Failed, strategy.Running, strategy.Waiting}).Draw(t, "state")
					view = with(view, got.Design, state)
				}
			})
		})
	}
}

// Finite spaces are used up without a repetition. Then the best of those that are
// neither running nor failed is taken again; where there is none of these either,
// the maximiser.
func TestUsedUpSpaces(t *testing.T) {
	definition := newTask(t, "{name: n, type: int, low: 1, high: 3}, {name: c, type: categorical, choices: [a, b]}")
	s, space := search.New(definition), definition.Space
	f := linear{1, 0.1, 0}
	view := strategy.View{Task: definition, Posterior: model{f: f, variance: 1e-8, noise: 1e-4}}
	suggest := func(view strategy.View) strategy.Suggestion {
		return maximise(t, s, view, uint64(len(view.Trials)+1), random.SeedOf(1), f, strategy.Why{Source: strategy.Own})
	}
	for id := range 6 {
		got := suggest(view)
		if s.Tried(view, got.Design) || got.Why.RepeatOf > 0 || got.Why.Source != strategy.Own {
			t.Fatalf("trial %d repeats %v: %v", id+1, got.Design, got.Why)
		}
		view = with(view, got.Design, strategy.Done)
	}
	best := space.Decode([]float64{1, 1, 0})
	if got := suggest(view); !got.Design.Equal(best) || got.Why.RepeatOf != 1 {
		t.Errorf("used up: %v, %+v, wanted the best one again", got.Design, got.Why)
	}
	for _, state := range []strategy.State{strategy.Failed, strategy.Running, strategy.Waiting} {
		if got := suggest(with(view, best, state)); got.Design.Equal(best) || got.Why.RepeatOf == 0 {
			t.Errorf("used up, the best %s: %v, %+v", state, got.Design, got.Why)
		}
	}
	all := view
	for _, trial := range view.Trials {
		all = with(all, trial.Design, strategy.Failed)
	}
	if got := suggest(all); !got.Design.Equal(best) {
		t.Errorf("used up, all failed: %v", got.Design)
	}
}

// Where the search finds nothing that was not tried although something is left,
// chance does, and says so.
func TestRemainingDesigns(t *testing.T) {
	definition := newTask(t, "{name: n, type: int, low: 1, high: 6}, {name: c, type: categorical, choices: [a, b]}")
	s, space := search.New(definition), definition.Space
	lost := space.Decode([]float64{0, 0, 1})
	f := elsewhere{linear{1, 0.1, 0}, space.Encode(lost)}
	view := strategy.View{Task: definition}
	for n := range 12 {
		u := []float64{(float64(n/2) + 0.5) / 6, 0, 0}
		u[1+n%2] = 1
		if design := space.Decode(u); !design.Equal(lost) {
			view = with(view, design, strategy.Done)
		}
	}
	got := maximise(t, s, view, 12, random.SeedOf(1), f, strategy.Why{Source: strategy.Own})
	if !got.Design.Equal(lost) || got.Why.Source != strategy.Remaining {
		t.Errorf("%v, %+v", got.Design, got.Why)
	}
}

// elsewhere has no value at a place.
type elsewhere struct {
	linear
	hole []float64
}

func (e elsewhere) Value(x []float64) float64 {
	if (acquisition.Box{Centre: e.hole, Radius: 1e-9}).Contains(x) {
		return math.NaN()
	}
	return e.linear.Value(x)
}

// The same design is taken again while two observations of it would tell more than
// is known and noise hides whether it is the best, and only then.
func TestNoiseMakesARepetitionWorthIt(t *testing.T) {
	definition := newTask(t, "{name: x, type: float, low: 0, high: 1}, {name: c, type: categorical, choices: [a, b]}")
	s, f := search.New(definition), linear{-1, 0.2, 0}
	corner := definition.Space.Decode([]float64{0, 1, 0})
	for _, c := range []struct {
		variance, noise float64
		again           bool
	}{
		{0.25, 0.4, true},
		{0.25, 0.6, false},  // as known as by more than two observations
		{1e-6, 1e-6, false}, // it is clear which is better
		{0.25, 0, false},    // an observation is exact
	} {
		view := with(strategy.View{Task: definition, Posterior: model{f: f, variance: c.variance, noise: c.noise}}, corner, strategy.Done)
		got := maximise(t, s, view, 2, random.SeedOf(1), f, strategy.Why{Source: strategy.Own})
		if (got.Why.RepeatOf == 1) != c.again || got.Design.Equal(corner) != c.again || (got.Why.NextBest == 1) == c.again {
			t.Errorf("variance %g, noise %g: %v, %+v", c.variance, c.noise, got.Design, got.Why)
		}
		for _, state := range []strategy.State{strategy.Failed, strategy.Running} {
			if got := maximise(t, s, with(view, corner, state), 3, random.SeedOf(1), f, strategy.Why{}); got.Design.Equal(corner) {
				t.Errorf("%s: repeated", state)
			}
		}
	}
}

// Where the next best design is clearly the better one by the mean, as a drawn sample
// may have it, noise hides nothing.
func TestWhatIsClearlyWorseIsNotRepeated(t *testing.T) {
	definition := newTask(t, "{name: x, type: float, low: 0, high: 1}, {name: c, type: categorical, choices: [a, b]}")
	s, sample := search.New(definition), linear{-1, 0.2, 0}
	corner := definition.Space.Decode([]float64{0, 1, 0})
	view := strategy.View{Task: definition, Posterior: model{f: linear{1, -0.2, 0}, variance: 1e-6, noise: 1e-6}}
	got := maximise(t, s, with(view, corner, strategy.Done), 2, random.SeedOf(1), sample, strategy.Why{Source: strategy.Own})
	if got.Why.NextBest != 1 || got.Design.Equal(corner) {
		t.Errorf("%v, %+v", got.Design, got.Why)
	}
}

// Close to a design that runs or has failed nothing is suggested; close to one that
// is done there may be.
func TestAroundFailures(t *testing.T) {
	definition := newTask(t, "{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}")
	s, space := search.New(definition), definition.Space
	f := acquisition.Function(bowl{0.4, 0.6})
	for state, free := range map[strategy.State]bool{strategy.Done: true, strategy.Failed: false, strategy.Running: false, strategy.Waiting: false} {
		design := space.Decode([]float64{0.405, 0.597})
		view := with(strategy.View{Task: definition}, design, state)
		got := maximise(t, s, view, 2, random.SeedOf(1), f, strategy.Why{Source: strategy.Own})
		if d := distance(space, got.Design, design); (d < neighbourhood-1e-9) != free || (got.Why.NextBest == 0) != free {
			t.Errorf("%s: %v, %+v is %g away", state, got.Design, got.Why, d)
		}
	}
}

// bowl has its largest value at a place.
type bowl []float64

func (b bowl) Value(x []float64) float64 {
	sum := 0.0
	for i, c := range b {
		sum -= (x[i] - c) * (x[i] - c)
	}
	return sum
}

func (b bowl) Gradient(grad, x []float64) float64 {
	for i, c := range b {
		grad[i] = -2 * (x[i] - c)
	}
	return b.Value(x)
}

// Trials that cover an axis leave room between them.
func TestStartsOnCoveredAxis(t *testing.T) {
	definition := newTask(t, "{name: x, type: float, low: 0, high: 1}")
	s, view := search.New(definition), strategy.View{Task: definition}
	for i := range 201 {
		view = with(view, definition.Space.Decode([]float64{float64(i) / 200}), strategy.Done)
	}
	got := maximise(t, s, view, 202, random.SeedOf(1), linear{-1}, strategy.Why{Source: strategy.Own})
	if x := got.Design.Float("x"); got.Why.NextBest != 1 || x <= 0 || x > 0.005 {
		t.Errorf("%v, %+v", got.Design, got.Why)
	}
}

func maximise(t interface {
	Helper()
	Context() context.Context
	Fatal(...any)
}, s search.Search, view strategy.View, trial uint64, seed random.Seed, f acquisition.Function, why strategy.Why) strategy.Suggestion {
	t.Helper()
	got, err := s.Maximise(t.Context(), view, trial, seed, f, why)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
