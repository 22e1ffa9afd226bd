package averageobjective

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
)

// Without peers' shares the designs are those of strategy ucb.
func TestDesignsOfUCBWithoutPeers(t *testing.T) {
	of := newTask(t, "exact")
	s := New(of, featuresOf(t, of))
	for _, view := range []strategy.View{{Task: of}, observed(t, of, "a", bowl(0.3, 1), 5)} {
		for trial := uint64(1); trial < 9; trial++ {
			want, err := alone.NewUCB(of).Suggest(t.Context(), view, trial, random.SeedOf(1))
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Suggest(t.Context(), view, trial, random.SeedOf(1))
			if err != nil {
				t.Fatal(err)
			}
			if got.Design.Key() != want.Design.Key() || got.Why != want.Why {
				t.Errorf("trial %d: %s (%s), alone %s (%s)", trial, got.Design, got.Why, want.Design, want.Why)
			}
		}
	}
}

// All agents recommend the same design, near the optimum of the average in the objective's units:
// Σ s_k a_k / Σ s_k of bowls with the factors s_k and the minima a_k.
func TestAgentsRecommendOneDesignForAll(t *testing.T) {
	for _, model := range []string{"exact", "rff"} {
		for _, scale := range []float64{1, 9} {
			of := newTask(t, model)
			views := exchanged(t, observed(t, of, "b", bowl(0.2, 1), 9), observed(t, of, "c", bowl(0.8, scale), 9), observed(t, of, "a", bowl(0.5, 1), 9))
			first := recommend(t, views[0])
			want := (0.2 + 0.8*scale + 0.5) / (2 + scale)
			if got := first.Design.Float("x"); math.Abs(got-want) > 0.06 || first.Agents != 3 {
				t.Errorf("%s, factor %g: x = %g for %d agents, want %g for 3", model, scale, got, first.Agents, want)
			}
			average := (bowl(0.2, 1)([]float64{want}) + bowl(0.8, scale)([]float64{want}) + bowl(0.5, 1)([]float64{want})) / 3
			if math.Abs(first.Predicted-average) > 0.05*scale {
				t.Errorf("%s, factor %g: predicted %g, the average is %g", model, scale, first.Predicted, average)
			}
			for _, view := range views[1:] {
				if other := recommend(t, view); other.Design.Key() != first.Design.Key() || other.Predicted != first.Predicted || other.Agents != 3 {
					t.Errorf("%s: agents recommend %v and %v", model, first, other)
				}
			}
		}
	}
}

// Many outcomes near the average's optimum do not make worse outcomes count as less bad.
func TestConcentratedOutcomes(t *testing.T) {
	x := [][]float64{{0}, {0.5}, {1}}
	for i := range 17 {
		x = append(x, []float64{0.36 + 0.005*float64(i)})
	}
	for _, model := range []string{"exact", "rff"} {
		of := newTask(t, model)
		views := exchanged(t, observedAt(t, of, "a", bowl(0.2, 1), x), observedAt(t, of, "b", bowl(0.6, 1), x))
		got := recommend(t, views[0])
		if at := got.Design.Float("x"); math.Abs(at-0.4) > 0.02 || math.Abs(got.Predicted-0.04) > 0.002 {
			t.Errorf("%s: x = %g with %g is recommended, expected 0.4 with 0.04", model, at, got.Predicted)
		}
	}
}

// A node without results of its own recommends what its peers do, and without any share nothing.
func TestRecommendationWithoutOwnResults(t *testing.T) {
	of := newTask(t, "exact")
	views := exchanged(t, observed(t, of, "b", bowl(0.2, 1), 9), observed(t, of, "c", bowl(0.8, 1), 9), strategy.View{Task: of, Self: "keeper"})
	if keeper, other := recommend(t, views[2]), recommend(t, views[0]); keeper.Design.Key() != other.Design.Key() || keeper.Agents != 2 {
		t.Errorf("a keeper recommends %v, an agent %v", keeper, other)
	}
	if nothing := recommend(t, strategy.View{Task: of}); !nothing.Design.IsZero() {
		t.Errorf("without shares %v is recommended", nothing)
	}
	if few := observed(t, of, "d", bowl(0.2, 1), 2); few.Own != nil || !recommend(t, few).Design.IsZero() {
		t.Errorf("2 observations are shared or recommend %v", recommend(t, few))
	}
}

// An agent explores the design that may be good for all, and not its own optimum.
func TestDesignsFollowTheAverage(t *testing.T) {
	of := newTask(t, "exact")
	views := exchanged(t, observed(t, of, "b", bowl(0.1, 1), 12), observed(t, of, "c", bowl(0.9, 1), 12))
	got, err := New(of, featuresOf(t, of)).Suggest(t.Context(), views[0], 13, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	if x := got.Design.Float("x"); math.Abs(x-0.5) > 0.15 || got.Why.PeerCount != 1 || got.Why.Observations != 12 || !got.Why.FromPeers() {
		t.Errorf("x = %g (%+v), want about 0.5, informed by a peer with 12 observations", x, got.Why)
	}
}
