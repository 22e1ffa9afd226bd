package peerprior

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
)

// Experts take running designs for their own means: their weights stay, their means stay, and
// their variances shrink there.
func TestExpertsKnowRunningDesigns(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	view := with(l.view(l.designs(6, random.SeedOf(1)), bump(0.3)), l.peersOf(3, 25, bump(0.3), 1)...)
	running := view
	x := l.task.Space.Encode(l.suggest(view, 7, random.SeedOf(1)).Design)
	running.Trials = append(view.Trials[:6:6], strategy.Trial{ID: 7, Design: l.task.Space.Decode(x), State: strategy.Running})
	o, busy := l.considered(view), l.considered(running)
	for i, e := range o.experts {
		if e.weight != busy.experts[i].weight {
			t.Errorf("expert %d: weight %g, with a running trial %g", i, e.weight, busy.experts[i].weight)
		}
		b, err := e.posterior(o.data)
		if err != nil {
			t.Fatal(err)
		}
		given, err := b.withPending(l.strategy.search.Pending(running))
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := b.Predict(x)
		got, left := given.Predict(x)
		if math.Abs(got-mean) > 1e-9 || left > variance/2 || left > 1.01*o.data.h.Noise {
			t.Errorf("expert %d: mean %g, variance %g, with a running design %g and %g; the noise is %g", i, mean, variance, got, left, o.data.h.Noise)
		}
		if away := []float64{1 - x[0], x[1]}; math.Abs(first(given.Predict(away))-first(b.Predict(away))) > 1e-9 {
			t.Errorf("expert %d: another mean at %v", i, away)
		}
	}
	free, _, err := l.strategy.score(t.Context(), view, o, 8, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	with, _, err := l.strategy.score(t.Context(), running, busy, 8, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	if !(with.Value(x) < free.Value(x)-1) {
		t.Errorf("score %g at a running design, %g without it", with.Value(x), free.Value(x))
	}
}

func first(a, _ float64) float64 { return a }
