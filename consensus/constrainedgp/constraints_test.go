package constrainedgp

import (
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
)

// constrained returns the lab and the view of a task that also wants the first coordinate
// to be from low on, which the trials have measured.
func (l *lab) constrained(view strategy.View, low float64) (*lab, strategy.View) {
	l.t.Helper()
	with := *l
	view.Task = l.task
	with.task, view = strategytest.Constrain(l.t, view, low, 0.5, 2)
	with.strategy = newStrategy(l.t, with.task)
	with.alone = with.strategy.alone
	return &with, view
}

// Without peers, and with ones whose designs break the constraint for certain, it is
// expected improvement under constraints, whether or not something feasible is known.
func TestContradictedFeasibility(t *testing.T) {
	for _, low := range []float64{0.5, 1.5} {
		plain := newLab(t, "maximize", plane, "exact", "none")
		l, view := plain.constrained(plain.view(plain.designs(8, 2), bump(0.4)), low)
		if none := strategy.Best(l.task, view.Trials) == nil; none != (low > 1) {
			t.Fatalf("from %g: the test is void", low)
		}
		l.checkAlone(view, 9, 1)
		l.checkAlone(l.with(view, []float64{0.02, 0.5}), 9, 1)
	}
}

// While nothing feasible is known a peer's design is believed to be feasible, and tried.
func TestPeersShowWhatIsFeasible(t *testing.T) {
	plain := newLab(t, "maximize", plane, "exact", "none")
	left := [][]float64{{0.1, 0.2}, {0.3, 0.8}, {0.2, 0.5}, {0.4, 0.4}}
	l, view := plain.constrained(plain.view(left, bump(0.4)), 0.55)
	for _, y := range []float64{0.15, 0.85} {
		claimed := []float64{0.6, y}
		got := l.suggest(l.with(view, claimed), 9, 1)
		if got.Why.Source != "designs" || got.Why.PeerCount != 1 {
			t.Fatalf("%+v", got.Why)
		}
		given, err := view.Constraints[0].Given([][]float64{claimed}, []bool{true})
		if err != nil {
			t.Fatal(err)
		}
		before, _ := view.Constraints[0].Predict(claimed)
		after, _ := given.Predict(claimed)
		if after <= before || after < given.Low {
			t.Errorf("the limit is %g, the mean at the claim %g, before %g", given.Low, after, before)
		}
	}
}

// With something feasible known, a design counts that is claimed to be feasible and better,
// although its mean is above that of all that is feasible already.
func TestClaimsUnderConstraints(t *testing.T) {
	plain := newLab(t, "maximize", plane, "exact", "none")
	l, view := plain.constrained(plain.view([][]float64{{0.9, 0.9}, {0.8, 0.1}, {0.1, 0.4}, {0.2, 0.2}}, bump(0.4)), 0.5)
	claimed := []float64{0.55, 0.42}
	f, claims, err := l.strategy.score(t.Context(), l.with(view, claimed), 9, random.SeedOf(1))
	if err != nil || len(claims) != 1 {
		t.Fatalf("%v, %v", claims, err)
	}
	alone, _ := l.alone.Score(view)
	if f.Value(claimed) <= alone.Value(claimed) {
		t.Errorf("%g at the claim, alone %g", f.Value(claimed), alone.Value(claimed))
	}
	got := l.suggest(l.with(view, claimed), 9, 1)
	if x := l.task.Space.Encode(got.Design); got.Why.Source != "designs" || x[0] < 0.4 {
		t.Errorf("%v (%+v)", got.Design, got.Why)
	}
}

// What is shared is believed to be feasible, and nothing where nothing is.
func TestSharedDesignsAreFeasible(t *testing.T) {
	for _, threshold := range []string{"none", "open"} {
		for low, shared := range map[float64]bool{0.5: true, 1.5: false} {
			plain := newLab(t, "minimize", plane, "exact", threshold)
			x := plain.designs(12, 3)
			l, view := plain.constrained(plain.view(x, bump(0.2)), low)
			n, ok, err := nearOptimal(t.Context(), l.task, l.strategy.search, view, random.SeedOf(4))
			if err != nil || ok != shared {
				t.Fatalf("from %g: %+v, %v, %v", low, n, ok, err)
			}
			if shared && n.Point.Encoded(l.task.Space)[0] < 0.5 {
				t.Errorf("from %g: %v", low, n.Point)
			}
			if shared && threshold == "open" {
				if value := bump(0.2)(n.Point.Encoded(l.task.Space)); *n.Bound > value+0.01 || *n.Bound < value-1 {
					t.Errorf("bound %g of the value %g", *n.Bound, value)
				}
			}
		}
	}
}
