package search_test

import (
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// newListedTask has 40 designs: 39 that lie within a neighborhood of each other in one
// corner, and one in the opposite corner.
func newListedTask(t *testing.T) *task.Task {
	t.Helper()
	rows := [][]task.Value{{task.FloatValue(1), task.FloatValue(1)}}
	for i := range 39 {
		rows = append(rows, []task.Value{task.FloatValue(float64(i) / 1e5), task.FloatValue(float64(i*i) / 1e6)})
	}
	space, err := task.NewListed([]task.Parameter{
		{Name: "x", Kind: task.Float, Low: 0, High: 1}, {Name: "y", Kind: task.Float, Low: 0, High: 1},
	}, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	made, err := all.Strategies().NewTask(task.Spec{Name: "list", Goal: task.Maximize, Parameters: space.Parameters(),
		Listing: space.Listing(), Strategy: task.Strategy{Type: "ts", InitialDesigns: 40}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Random starting designs go through a whole list before any is repeated, whatever
// became of those before. Were they the nearest of uniform points, the 38 that lie in the
// corner would hardly be drawn.
func TestStartingDesignsUseUpAList(t *testing.T) {
	definition := newListedTask(t)
	s, seen := search.New(definition), map[int]bool{}
	view := strategy.View{Task: definition}
	for id := uint64(1); id <= 40; id++ {
		got, err := s.Start(view, id, random.SeedOf(1))
		if err != nil {
			t.Fatal(err)
		}
		i, ok := definition.Space.Listing().Index(got.Design)
		if !ok || seen[i] {
			t.Fatalf("trial %d: %v is listed (%t) as %d, tried (%t)", id, got.Design, ok, i, seen[i])
		}
		seen[i] = true
		view = with(view, got.Design, []strategy.State{strategy.Done, strategy.Failed, strategy.Running}[id%3])
	}
	if got, err := s.Start(view, 41, random.SeedOf(1)); err != nil || definition.Space.Check(got.Design) != nil {
		t.Errorf("the list is used up: %v, %v", got, err)
	}
}

// Where part of the space is asked for, a design there is found as long as there is one.
func TestStartingDesignsWithinAPartOfAList(t *testing.T) {
	definition := newListedTask(t)
	s := search.New(definition)
	corner := func(x []float64) bool { return x[0] > 0.9 }
	got, err := s.StartWithin(strategy.View{Task: definition}, 1, random.SeedOf(2), corner)
	if err != nil || got.Design.Float("x") != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	next, err := s.StartWithin(with(strategy.View{Task: definition}, got.Design, strategy.Done), 2, random.SeedOf(2), corner)
	if err != nil || next.Design.Float("x") == 1 {
		t.Errorf("%v again, %v", next, err)
	}
}

// What is suggested is listed, and new until the list is used up, although nearly all of
// it lies in one neighborhood. Then the best is taken again.
func TestListsAreUsedUp(t *testing.T) {
	definition := newListedTask(t)
	s, space := search.New(definition), definition.Space
	f := linear{1, 0.5}
	view := strategy.View{Task: definition, Posterior: model{f: f, variance: 1e-8, noise: 1e-4}}
	for id := uint64(1); id <= 41; id++ {
		got := maximise(t, s, view, id, random.SeedOf(1), f, strategy.Why{Source: strategy.Own})
		if err := space.Check(got.Design); err != nil {
			t.Fatal(err)
		}
		used := id == 41
		if again := got.Why.RepeatOf > 0; again != used {
			t.Fatalf("trial %d: %+v", id, got)
		}
		if id == 1 || used {
			if got.Design.Float("x") != 1 {
				t.Errorf("trial %d: %v is not the best", id, got.Design)
			}
		}
		for _, trial := range view.Trials {
			if trial.Design.Equal(got.Design) && !used {
				t.Fatalf("trial %d repeats %v", id, got.Design)
			}
		}
		view = with(view, got.Design, strategy.Done)
	}
}
