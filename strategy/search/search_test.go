package search_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

func parse(t testing.TB, goal string, initial int, parameters string) *task.Task {
	t.Helper()
	return strategytest.Task(t, all.Strategies(), "name: search\ngoal: %s\nparameters: [%s]\nstrategy: {type: ts, initial_designs: %d}", goal, parameters, initial)
}

// Starting designs come before the model's, and as long as there is no model.
func TestWhenTheStartEnds(t *testing.T) {
	s := search.New(parse(t, "minimize", 3, spaces["floats"]))
	known := strategy.View{Posterior: model{}}
	for trial, after := range map[uint64]uint64{1: 0, 3: 0, 4: 1, 10: 7} {
		if got, want := s.Starting(known, trial), trial <= 3; got != want {
			t.Errorf("trial %d with a model: starting %t", trial, got)
		}
		if !s.Starting(strategy.View{}, trial) {
			t.Errorf("trial %d without a model is no starting one", trial)
		}
		if got := s.AfterStart(trial); got != after {
			t.Errorf("trial %d is number %d after the start, want %d", trial, got, after)
		}
	}
}

// Starting designs are of the space, new as long as something new is left, and the same when
// asked for again.
func TestStartingDesigns(t *testing.T) {
	for name, parameters := range spaces {
		t.Run(name, func(t *testing.T) {
			definition := parse(t, "maximize", 5, parameters)
			s, space := search.New(definition), definition.Space
			rapid.Check(t, func(t *rapid.T) {
				seed := random.SeedOf(rapid.Uint64().Draw(t, "seed"))
				view := strategy.View{Task: definition}
				for id := uint64(1); id <= 8; id++ {
					got, err := s.Start(view, id, seed)
					if err != nil || got.Why != (strategy.Why{Source: strategy.Initial}) {
						t.Fatalf("trial %d: %+v, %v", id, got, err)
					}
					if again, _ := s.Start(view, id, seed); !again.Design.Equal(got.Design) {
						t.Fatalf("trial %d, asked twice: %v and %v", id, got.Design, again.Design)
					}
					if slices.ContainsFunc(view.Trials, func(tried strategy.Trial) bool { return tried.Design.Equal(got.Design) }) {
						t.Fatalf("trial %d repeats %v", id, got.Design)
					}
					if back := space.Decode(space.Encode(got.Design)); !back.Equal(got.Design) {
						t.Fatalf("trial %d: %v is not of the space, which has %v", id, got.Design, back)
					}
					view = with(view, got.Design, rapid.SampledFrom([]strategy.State{strategy.Done, strategy.Failed, strategy.Running}).Draw(t, "state"))
				}
			})
		})
	}
}

// Within a sixteenth of the space the start stays as long as there is something new in it.
func TestStartWithin(t *testing.T) {
	definition := newTask(t, "{name: x, type: float, low: 0, high: 1}, {name: n, type: int, low: 0, high: 9}")
	s := search.New(definition)
	rapid.Check(t, func(t *rapid.T) {
		seed := random.SeedOf(rapid.Uint64().Draw(t, "seed"))
		low := rapid.Float64Range(0, 15./16).Draw(t, "low")
		within := func(x []float64) bool { return x[0] >= low && x[0] <= low+1./16 }
		for id := range uint64(5) {
			got, err := s.StartWithin(strategy.View{}, id, seed, within)
			if err != nil || !within(definition.Space.Encode(got.Design)) {
				t.Fatalf("%v, %v: not between %g and %g", got.Design, err, low, low+1./16)
			}
		}
		if got, err := s.StartWithin(strategy.View{}, 1, seed, func([]float64) bool { return false }); err != nil || got.Design.IsZero() {
			t.Fatalf("where nothing is within: %v, %v", got.Design, err)
		}
	})
	few := newTask(t, "{name: n, type: int, low: 1, high: 4}")
	lower := func(x []float64) bool { return x[0] < .5 }
	view := strategy.View{}
	for i := range 4 {
		got, err := search.New(few).StartWithin(view, uint64(i+1), random.SeedOf(3), lower)
		if err != nil || lower(few.Space.Encode(got.Design)) != (i < 2) || search.New(few).Tried(view, got.Design) {
			t.Errorf("design %d is %v, %v: the two lower ones come first", i+1, got.Design, err)
		}
		view = with(view, got.Design, strategy.Done)
	}
}

// Where nothing new is left a starting design is one that has not failed; where all have,
// that is an error.
func TestNothingIsLeftToStartWith(t *testing.T) {
	definition := newTask(t, "{name: n, type: int, low: 1, high: 3}")
	s := search.New(definition)
	design := func(n int) task.Design { return definition.Space.Decode([]float64{(float64(n) - .5) / 3}) }
	view := with(with(with(strategy.View{}, design(1), strategy.Failed), design(2), strategy.Done), design(3), strategy.Failed)
	for seed := range uint64(20) {
		if got, err := s.Start(view, 4, random.SeedOf(seed)); err != nil || !got.Design.Equal(design(2)) {
			t.Errorf("seed %d: %v, %v; want the one that did not fail", seed, got.Design, err)
		}
	}
	view.Trials[1].State = strategy.Failed
	if got, err := s.Start(view, 4, random.SeedOf(1)); err == nil {
		t.Errorf("all have failed, and yet %v", got.Design)
	}
}

// Best are the designs of the best outcomes by the task's goal, the best first, and of
// equal ones the oldest.
func TestBestDesignsFirst(t *testing.T) {
	values := []float64{3, 1, 4, 1, 5, 9, 2, 6}
	for goal, want := range map[string][]int{"minimize": {1, 3, 6, 0, 2}, "maximize": {5, 7, 4, 2, 0}} {
		definition := parse(t, goal, 1, "{name: x, type: float, low: 0, high: 1}")
		s, space := search.New(definition), definition.Space
		view := strategy.View{Task: definition}
		for i, value := range values {
			view = with(view, space.Decode([]float64{float64(i) / 10}), strategy.Done)
			view.Trials[i].Outcome = &strategy.Outcome{Value: value}
		}
		view = with(view, space.Decode([]float64{.95}), strategy.Failed)
		view = with(view, space.Decode([]float64{.99}), strategy.Running)
		view.Trials[len(values)].Outcome, view.Trials[len(values)+1].Outcome = nil, nil
		var got []int
		for _, x := range s.Best(view) {
			got = append(got, int(math.Round(10*x[0])))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the best trials are %v, want %v", goal, got, want)
		}
	}
	if got := search.New(newTask(t, spaces["floats"])).Best(strategy.View{}); len(got) > 0 {
		t.Errorf("without trials: %v", got)
	}
}

// hill is a posterior whose mean is largest at a place.
type hill struct {
	surrogate.Posterior
	bowl
}

func (h hill) Predict(x []float64) (mean, variance float64) { return h.Value(x), 1 }

func (h hill) PredictGradient(meanGradient, varianceGradient, x []float64) (mean, variance float64) {
	clear(varianceGradient)
	return h.Gradient(meanGradient, x), 1
}

func TestRecommendIsTheBestMean(t *testing.T) {
	definition := newTask(t, spaces["floats"])
	s := search.New(definition)
	if got := s.Recommend(t.Context(), strategy.View{}, random.SeedOf(1)); !got.IsZero() {
		t.Errorf("without a model: %v", got)
	}
	got := s.Recommend(t.Context(), strategy.View{Posterior: hill{bowl: bowl{.3, .8}}}, random.SeedOf(1))
	if x := definition.Space.Encode(got); math.Hypot(x[0]-.3, x[1]-.8) > 1e-6 {
		t.Errorf("%v is recommended, encoded %v", got, x)
	}
}

// slope is a posterior whose mean grows by the first coordinate, and its deviation by the square.
type slope struct{ surrogate.Posterior }

func (slope) Predict(x []float64) (mean, variance float64) { return x[0], math.Pow(x[0], 4) }

func (s slope) PredictGradient(meanGradient, varianceGradient, x []float64) (mean, variance float64) {
	clear(meanGradient)
	clear(varianceGradient)
	meanGradient[0], varianceGradient[0] = 1, 4*math.Pow(x[0], 3)
	return s.Predict(x)
}

// The largest mean lies where least is known. The recommended design has the largest mean less
// one standard deviation; the optimum is believed to be at the largest mean.
func TestRecommendIsSupported(t *testing.T) {
	definition := newTask(t, spaces["floats"])
	s, view := search.New(definition), strategy.View{Posterior: slope{}}
	got := definition.Space.Encode(s.Recommend(t.Context(), view, random.SeedOf(1)))
	if math.Abs(got[0]-0.5) > 1e-6 {
		t.Errorf("%v is recommended, want 0.5 first", got)
	}
	if got := definition.Space.Encode(s.Optimum(t.Context(), view, random.SeedOf(1))); got[0] < 1-1e-6 {
		t.Errorf("the optimum is believed to be at %v, want 1 first", got)
	}
}

// With stopped trials only designs with an outcome are recommended, also as the estimated optimum: the
// model has optimistic bounds where trials were stopped.
func TestRecommendRestsOnOutcomes(t *testing.T) {
	definition := newTask(t, spaces["floats"])
	at := func(x float64) task.Design { return definition.Space.Decode([]float64{x, .5}) }
	view := strategy.View{Task: definition, Posterior: hill{bowl: bowl{.9, .5}}}
	for i, x := range []float64{.2, .6, .4} {
		view.Trials = append(view.Trials, strategy.Trial{ID: uint64(i + 1), Design: at(x), State: strategy.Done, Outcome: &strategy.Outcome{Value: x}})
	}
	view.Trials = append(view.Trials, strategy.Trial{ID: 4, Design: at(.9), State: strategy.StoppedEarly})
	s := search.New(definition)
	for _, got := range []task.Design{s.Recommend(t.Context(), view, random.SeedOf(1)), s.Optimum(t.Context(), view, random.SeedOf(1))} {
		if got.String() != at(.6).String() {
			t.Errorf("%v is recommended, expected %v", got, at(.6))
		}
	}
	view.Trials = view.Trials[3:]
	if got := s.Recommend(t.Context(), view, random.SeedOf(1)); !got.IsZero() {
		t.Errorf("without an outcome %v is recommended", got)
	}
}

// known is a posterior of given means, noise and units.
type known struct {
	surrogate.Posterior
	mean  func(x []float64) float64
	noise float64
}

func (k known) Predict(x []float64) (mean, variance float64) { return k.mean(x), 0.1 }

func (k known) Hyperparameters() surrogate.Hyperparameters {
	return surrogate.Hyperparameters{Noise: k.noise}
}

func (known) Units() surrogate.Units { return surrogate.Units{Level: -5, Scale: 2} }

// The outcomes are noisy where the variance of the noise is above that of the means at what was
// evaluated; here this is 0.185.
func TestNoisyComparesNoiseWithMeans(t *testing.T) {
	definition := newTask(t, spaces["floats"])
	view := strategy.View{Task: definition}
	if search.Noisy(view) {
		t.Error("noisy without a model")
	}
	for i := range 4 {
		view.Trials = append(view.Trials, strategy.Trial{
			ID: uint64(i + 1), Design: definition.Space.Decode([]float64{float64(i) / 3, 0.5}), State: strategy.Done, Outcome: &strategy.Outcome{},
		})
	}
	for noise, want := range map[float64]bool{1e-4: false, 0.18: false, 0.19: true, 0.9: true} {
		view.Posterior = known{mean: func(x []float64) float64 { return x[0] }, noise: noise}
		if got := search.Noisy(view); got != want {
			t.Errorf("noise of variance %g: noisy is %v, want %v", noise, got, want)
		}
	}
	want := definition.Goal.Sign() * (-5 + 2.0/3)
	if got, ok := search.Predicted(view, view.Trials[1].Design); !ok || math.Abs(got-want) > 1e-9 {
		t.Errorf("predicted %g, %v; want %g", got, ok, want)
	}
}

// A strategy of three starting designs that goes by the mean alone.
func Example() {
	definition, err := all.Strategies().Parse("task.yaml", []byte(`
name: oven
goal: maximize
parameters: [{name: degrees, type: int, low: 100, high: 250}]
strategy: {type: ts, initial_designs: 3}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, seed := search.New(definition), random.SeedOf(1)
	view := strategy.View{Task: definition}
	start, err := s.Start(view, 1, seed)
	fmt.Println(s.Starting(view, 1), start.Why.Source, start.Design.Int("degrees") >= 100, err)
	view.Posterior = hill{bowl: bowl{0.5}} // of surrogate.New in earnest
	fmt.Println(s.Starting(view, 4), s.Recommend(context.Background(), view, seed))
	// Output:
	// true initial true <nil>
	// false degrees=175
}
