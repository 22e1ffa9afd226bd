package baseline

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

// Two pools that were told the same give every member the same design, whoever
// asks first, in turn or all at once, and asked again.
func TestSuggestionsRepeat(t *testing.T) {
	build := func() *federation {
		f := newFederation(t, gp.Matern52, 2, 4)
		for member := range f.views {
			f.observe(t, member, hill(0.2+0.1*float64(member)), 6+member, smooth(2))
		}
		return f
	}
	for name, make := range methods {
		one, other := build(), build()
		var want []task.Design
		for member := range one.views {
			want = append(want, one.suggest(t, make(one.task, one.pool, member), member, random.SeedOf(uint64(member))).Design)
		}
		for range 2 {
			got := slices.Clone(want)
			var group sync.WaitGroup
			for member := range slices.Backward(other.views) {
				group.Go(func() {
					s := make(other.task, other.pool, member)
					suggestion, err := s.Suggest(t.Context(), other.views[member], uint64(len(other.views[member].Trials)+1), random.SeedOf(uint64(member)))
					if err != nil {
						t.Error(err)
					}
					got[member] = suggestion.Design
				})
			}
			group.Wait()
			if !slices.EqualFunc(got, want, task.Design.Equal) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
}

// All strategies begin with the same designs.
func TestStartingDesigns(t *testing.T) {
	f := newFederation(t, gp.Matern52, 2, 2)
	f.observe(t, 1, hill(0.5), 20, smooth(2))
	want := f.suggest(t, alone.NewTS(f.task), 0, random.SeedOf(5))
	all := map[string]strategy.Strategy{"random": NewRandom(f.task)}
	for name, make := range methods {
		all[name] = make(f.task, f.pool, 0)
	}
	for name, s := range all {
		if got := f.suggest(t, s, 0, random.SeedOf(5)); !got.Design.Equal(want.Design) || got.Why.Source != strategy.Initial {
			t.Errorf("%s begins with %v (%v), want %v", name, got.Design, got.Why, want.Design)
		}
	}
}

// Random search never repeats a design while there are others, and is uniform: of
// 400 designs in each quarter of the square 100 ± 5 standard deviations.
func TestRandomSearchIsUniform(t *testing.T) {
	f := newFederation(t, gp.Matern52, 2, 1)
	s := NewRandom(f.task)
	var quarters [4]int
	seen := map[string]bool{}
	for range 400 {
		design := f.suggest(t, s, 0, random.SeedOf(1)).Design
		if seen[design.Key()] {
			t.Errorf("%v is repeated", design)
		}
		seen[design.Key()] = true
		quarters[2*int(2*design.Float("x0"))+int(2*design.Float("x1"))]++
		f.tell(0, design, hill(0.5))
	}
	for _, count := range quarters {
		if count < 57 || count > 143 {
			t.Errorf("%d designs by quarter", quarters)
		}
	}
}

// Hyperparameters are due at the first observation and at every growth by a half.
func TestFittingsAreSeldom(t *testing.T) {
	f := newFederation(t, gp.SE, 1, 4)
	var due []int
	for round := range 10 {
		for member := range f.views {
			before := f.pool.latest
			f.observe(t, member, hill(0.5), 1, smooth(1))
			if f.pool.latest != before {
				due = append(due, 4*round+member+1)
			}
		}
	}
	if want := []int{1, 2, 3, 5, 8, 12, 18, 27}; !slices.Equal(due, want) {
		t.Errorf("due at %v observations, want %v", due, want)
	}
}

// What was read stays as it was, and what was handed in may be used again.
func TestSnapshotsDoNotChange(t *testing.T) {
	f := newFederation(t, gp.SE, 2, 2)
	f.observe(t, 0, hill(0.5), 4, smooth(2))
	before := f.pool.now()
	if f.pool.now() != before {
		t.Error("two snapshots of one state")
	}
	obs := f.pool.observations(f.views[0])
	x := slices.Clone(obs.X[0])
	f.pool.Set(0, obs, f.views[0].Posterior)
	obs.X[0][0], obs.Y[0] = 7, 7
	if got := f.pool.now().members[0].x[0]; !slices.Equal(got, x) {
		t.Errorf("the pool holds %v, was told %v", got, x)
	}
	f.observe(t, 1, hill(0.5), 4, smooth(2))
	if count(before.members) != 4 || before.members[1] != nil {
		t.Error("a snapshot has changed")
	}
	if got := count(f.pool.now().members); got != 8 {
		t.Errorf("%d observations, want 8", got)
	}
}

func TestPoolRefuses(t *testing.T) {
	definition := newTask(t, gp.SE, 2)
	if _, err := NewPool(definition, 0); err == nil || !strings.Contains(err.Error(), "0 members") {
		t.Errorf("no members: %v", err)
	}
	definition.Surrogate.Type = "rff"
	if _, err := NewPool(definition, 1); err == nil || !strings.Contains(err.Error(), `"rff"`) {
		t.Errorf("another surrogate: %v", err)
	}
	// A simulator that forgets to tell the pool would spoil a comparison.
	f := newFederation(t, gp.SE, 2, 2)
	f.observe(t, 0, hill(0.5), 4, smooth(2))
	f.observe(t, 1, hill(0.5), 4, smooth(2))
	f.tell(0, f.views[0].Trials[0].Design, hill(0.5))
	for _, name := range pooledMethods {
		if _, err := methods[name](f.task, f.pool, 0).Suggest(t.Context(), f.views[0], 6, random.SeedOf(1)); err == nil || !strings.Contains(err.Error(), "member 0") {
			t.Errorf("%s from a stale pool: %v", name, err)
		}
	}
}

func TestMessageNumbers(t *testing.T) {
	for name, want := range map[string]int{
		"random": 0, "dp-fts-de": 100, "rgpe": 10100, "taf": 10100, "pooled": 7, "multitask": 7, "global": 6,
	} {
		if got := MessageNumbers(name, 100, 6); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown name is accepted")
		}
	}()
	MessageNumbers("telepathy", 100, 6)
}

func TestNoPoolOfFixedHyperparameters(t *testing.T) {
	definition := &task.Task{Surrogate: task.Surrogate{Type: "exact", Fixed: &task.FixedHyperparameters{}}}
	if _, err := NewPool(definition, 2); err == nil || !strings.Contains(err.Error(), "fixed hyperparameters: they must be learned") {
		t.Errorf("error %v", err)
	}
}
