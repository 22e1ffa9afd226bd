package baseline

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

// apart is a federation of two whose hills lie at 0.2 and 0.7, with more designs than
// starting ones.
func apart(t *testing.T) *federation {
	t.Helper()
	f := newFederation(t, gp.SE, 1, 2)
	f.observe(t, 0, hill(0.2), 5, smooth(1))
	f.observe(t, 1, hill(0.7), 5, smooth(1))
	return f
}

func (f *federation) encoded(s strategy.Suggestion) float64 { return f.task.Space.Encode(s.Design)[0] }

// The design of Gradients maximises the mean of the members' expected improvements: no
// point of a fine grid is better.
func TestGlobalDesignMaximisesTheAverageImprovement(t *testing.T) {
	f := apart(t)
	got := f.suggest(t, NewGlobal(f.task, f.pool, Gradients, random.SeedOf(1)), 0, random.SeedOf(2))
	average := func(x float64) (sum float64) {
		for _, view := range f.views {
			var designs [][]float64
			for _, trial := range view.Trials {
				designs = append(designs, f.task.Space.Encode(trial.Design))
			}
			sum += acquisition.EI(view.Posterior, alone.BestMean(view.Posterior, designs)).Value([]float64{x}) / 2
		}
		return sum
	}
	best := 0.0
	for i := range 1001 {
		best = max(best, average(float64(i)/1000))
	}
	if value := average(f.encoded(got)); best == 0 || value < best*(1-1e-6) {
		t.Errorf("the average improvement at %g is %g, on a grid it reaches %g", f.encoded(got), value, best)
	}
}

// The design of Candidates is the mean of the maximisers of the members' expected improvements, here
// over a fine grid.
func TestGlobalDesignIsTheMeanOfCandidates(t *testing.T) {
	f := apart(t)
	got := f.suggest(t, NewGlobal(f.task, f.pool, Candidates, random.SeedOf(1)), 0, random.SeedOf(2))
	want, own := 0.0, make([]float64, 2)
	for member, view := range f.views {
		var designs [][]float64
		for _, trial := range view.Trials {
			designs = append(designs, f.task.Space.Encode(trial.Design))
		}
		improvement := acquisition.LogEI(view.Posterior, alone.BestMean(view.Posterior, designs))
		best := math.Inf(-1)
		for i := range 10001 {
			x := float64(i) / 10000
			if value := improvement.Value([]float64{x}); value > best {
				best, own[member] = value, x
			}
		}
		want += own[member] / 2
	}
	if math.Abs(own[0]-own[1]) < 0.1 {
		t.Fatalf("the candidates %v are too near to each other to tell", own)
	}
	if x := f.encoded(got); math.Abs(x-want) > 1e-3 {
		t.Errorf("design %g, want the mean %g of %v", x, want, own)
	}
}

// All evaluate the design of a round, whoever asks first and whatever is told between. In
// the next round there is another one, that rests on what was told.
func TestGlobalDesignIsOneForAll(t *testing.T) {
	for _, from := range []From{Gradients, Candidates} {
		f, other := apart(t), apart(t)
		member := NewGlobal(f.task, f.pool, from, random.SeedOf(1))
		first := f.suggest(t, member, 1, random.SeedOf(2))
		f.tell(1, first.Design, hill(0.7))
		f.learn(t, 1, smooth(1))
		second := f.suggest(t, member, 0, random.SeedOf(3))
		if first.Design.Key() != second.Design.Key() {
			t.Errorf("%v: two designs in a round, %v and %v", from, first.Design, second.Design)
		}
		reversed := other.suggest(t, NewGlobal(other.task, other.pool, from, random.SeedOf(1)), 0, random.SeedOf(4))
		if reversed.Design.Key() != first.Design.Key() {
			t.Errorf("%v: %v when member 1 asks first, %v when member 0 does", from, first.Design, reversed.Design)
		}
		if first.Why.PeerCount != 1 || !first.Why.FromPeers() || first.Why.Round != 3 { // five trials, three of which are starting designs
			t.Errorf("%v: why %+v", from, first.Why)
		}
		f.tell(0, second.Design, hill(0.2))
		f.learn(t, 0, smooth(1))
		if next := f.suggest(t, member, 0, random.SeedOf(3)); next.Design.Key() == first.Design.Key() {
			t.Errorf("%v: the next round has the same design", from)
		}
	}
}

// Where an average of candidates was evaluated before, the average improvement decides.
func TestGlobalDesignIsNotDecidedTwice(t *testing.T) {
	f := newFederation(t, gp.SE, 1, 2)
	space, err := task.NewSpace([]task.Parameter{{Name: "n", Kind: task.Int, Low: 0, High: 9}})
	if err != nil {
		t.Fatal(err)
	}
	f.task.Space = space
	if f.pool, err = NewPool(f.task, 2); err != nil {
		t.Fatal(err)
	}
	f.observe(t, 0, hill(0.2), 3, smooth(1))
	f.observe(t, 1, hill(0.7), 3, smooth(1))
	for _, from := range []From{Gradients, Candidates} {
		global, seen := NewGlobal(f.task, f.pool, from, random.SeedOf(1)), map[string]bool{}
		for number := range uint64(10) {
			decided, err := global.round(t.Context(), number+1)
			if err != nil {
				t.Fatal(err)
			}
			seen[decided.design.Key()] = true
		}
		if len(seen) != 10 {
			t.Errorf("%v: %d different designs of 10 in 10 rounds", from, len(seen))
		}
	}
}

func TestGlobalStartsWithOwnDesigns(t *testing.T) {
	f := newFederation(t, gp.SE, 1, 1)
	got := f.suggest(t, NewGlobal(f.task, f.pool, Gradients, random.SeedOf(1)), 0, random.SeedOf(2))
	want := f.suggest(t, NewRandom(f.task), 0, random.SeedOf(2))
	if got.Design.Key() != want.Design.Key() || got.Why.Source != strategy.Initial {
		t.Errorf("%+v, want the starting design %v", got, want.Design)
	}
}
