package constrainedgp

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Without a design the suggestions are those of expected improvement, query for
// query, and what is no peer's design changes nothing.
func TestAloneItIsLogEI(t *testing.T) {
	for _, model := range []string{"exact", "rff"} {
		for _, parameters := range []string{plane, mixed, small} {
			for _, goal := range []string{"maximize", "minimize"} {
				l := newLab(t, goal, parameters, model, "none")
				foreign := l.share(0, l.designs(1, 5)[0], nil)
				foreign.Value = protocol.Presence{}
				var x [][]float64
				for trial := uint64(1); trial <= 5; trial++ {
					view := l.view(x, bump(0.4))
					l.checkAlone(view, trial, 1)
					view.Shares = []*strategy.Share{foreign}
					l.checkAlone(view, trial, 1)
					x = append(x, l.task.Space.Encode(l.suggest(view, trial, 1).Design))
				}
			}
		}
	}
}

// A design that the own observations contradict is dropped, whoever names it,
// whatever else is lost with it.
func TestContradictedDesignsAreDropped(t *testing.T) {
	for _, model := range []string{"exact", "rff"} {
		for _, parameters := range []string{plane, mixed} {
			l := newLab(t, "maximize", parameters, model, "none")
			x := l.designs(8, 2)
			view := l.view(x, bump(0.4))
			worst := x[0]
			for _, other := range x {
				if bump(0.4)(other) < bump(0.4)(worst) {
					worst = other
				}
			}
			shared := l.with(view, worst)
			prior := view
			prior.PriorDesigns = []task.Design{l.task.Space.Decode(worst)}
			for trial := uint64(9); trial < 12; trial++ {
				l.checkAlone(shared, trial, trial)
				l.checkAlone(prior, trial, trial)
			}
			claims := claimsOf(l.task, shared)
			threshold := max(predict(claims, view.Posterior), 0.5)
			if z := claims[0].score(threshold); z >= minScore {
				t.Errorf("%s: the design lies only %g deviations below, the test is void", model, -z)
			}
		}
	}
}

// A supported design draws the next evaluation to it: there the mean, on average
// over samples, passes the threshold, and the expected improvement is larger than
// without the design.
func TestSupportedDesignsAreListenedTo(t *testing.T) {
	for model, goal := range map[string]string{"exact": "minimize", "rff": "maximize"} {
		for _, parameters := range []string{plane, mixed} {
			l := newLab(t, goal, parameters, model, "none")
			view := l.view(l.designs(5, 2), bump(0.3))
			received := 0
			for _, design := range l.designs(2, 4) {
				shared := l.with(view, design)
				f, claims := l.considered(shared, 1)
				if len(claims) == 0 {
					continue
				}
				received++
				l.checkRaised(f, claims)
				if f.Value(design) <= acquisition.LogEI(view.Posterior, f.best).Value(design) {
					t.Errorf("%s: improvement %g at the design, %g without it", model, f.Value(design), acquisition.LogEI(view.Posterior, f.best).Value(design))
				}
				got := l.suggest(shared, 9, 1)
				if got.Why.Source != "designs" || got.Why.PeerCount != 1 || got.Why.Observations != 10 || !got.Why.FromPeers() {
					t.Errorf("%s: %+v", model, got.Why)
				}
				if x := l.task.Space.Encode(got.Design); f.Value(x) < f.Value(design)-1e-3 {
					t.Errorf("%s: suggests %v of value %g, the design has %g", model, x, f.Value(x), f.Value(design))
				}
			}
			if received == 0 {
				t.Errorf("%s, %s: no design was supported, the test is void", model, parameters)
			}
		}
	}
}

// checkRaised wants the conditional mean at every design above the own one and
// above the largest own mean at any trial.
func (l *lab) checkRaised(f *averageImprovement, claims []claim) {
	l.t.Helper()
	for i, c := range claims {
		raised := 0.0
		for _, z := range f.samples {
			raised += (c.mean + dot(f.condition.row(i), z)) / float64(len(f.samples))
		}
		if !(raised > c.mean && raised > f.best) {
			l.t.Errorf("the mean at a design is %g, was %g, best %g", raised, c.mean, f.best)
		}
	}
}

// The same view, trial and seed give the same design, another seed another sample.
func TestSuggestionsAreReproducible(t *testing.T) {
	l := newLab(t, "maximize", mixed, "exact", "none")
	view := l.with(l.view(l.designs(5, 2), bump(0.3)), l.designs(12, 4)...)
	first, again := l.suggest(view, 9, 1), l.suggest(view, 9, 1)
	if first.Why.Source != "designs" || !first.Design.Equal(again.Design) || first.Why != again.Why {
		t.Errorf("%v (%v) and %v (%v)", first.Design, first.Why, again.Design, again.Why)
	}
	f, _ := l.considered(view, 1)
	g, _ := l.considered(view, 2)
	if x := l.designs(1, 1)[0]; f.Value(x) == g.Value(x) {
		t.Errorf("both seeds give %g", f.Value(x))
	}
}

// A design that was tried, and that noise keeps from being contradicted, is not
// tried over and over: the agent goes on as if alone.
func TestDesignsAlreadyTriedLeadToLogEI(t *testing.T) {
	l := newLab(t, "maximize", "{name: n, type: int, low: 1, high: 4}", "exact", "none")
	l.noise = noisy
	x := [][]float64{{0}, {1.0 / 3}, {2.0 / 3}, {1}}
	for i := range x {
		x[i] = l.snapped(x[i])
	}
	view := l.view(x, func([]float64) float64 { return 3 })
	alone, err := l.alone.Suggest(t.Context(), view, 99, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	attack := x[0]
	if alone.Design.Equal(l.task.Space.Decode(attack)) {
		attack = x[3]
	}
	view = l.with(view, attack)
	f, claims := l.considered(view, 1)
	if len(claims) != 1 {
		t.Fatal("the design is not supported, the test is void")
	}
	best, _, _ := l.strategy.search.Maximizer.Maximize(t.Context(), f, nil, random.SeedOf(1).Stream("t", 0))
	if alone.Design.Equal(l.task.Space.Decode(best)) {
		t.Fatalf("alone the agent chooses %v as well, the test is void", alone.Design)
	}
	l.checkAlone(view, 99, 1)
}

// In the open only bounds above the own threshold, in units of the objective and
// larger being better, are listened to; prior designs always are.
func TestOpenThreshold(t *testing.T) {
	for _, goal := range []string{"maximize", "minimize"} {
		l := newLab(t, goal, plane, "exact", "open")
		f := func(x []float64) float64 { return 500 + 20*bump(0.3)(x) }
		view := l.view(l.designs(5, 2), f)
		units, err := unitsOf(l.task, view)
		if err != nil {
			t.Fatal(err)
		}
		_, best, _ := l.strategy.search.Maximizer.Maximize(t.Context(), acquisition.Mean(view.Posterior), nil, random.SeedOf(1).Stream("t", 0))
		threshold := own(units, best)
		if !(threshold > 500 && threshold < 530) {
			t.Fatalf("%s: threshold %g", goal, threshold)
		}
		at := l.snapped([]float64{0.9, 0.9})
		for bound, informed := range map[float64]int{threshold + 0.1: 1, threshold - 0.1: 0, 1e9: 1, -1e9: 0} {
			view.Shares = []*strategy.Share{l.share(0, at, &bound)}
			if _, claims := l.considered(view, 1); len(claims) != informed {
				t.Errorf("%s: bound %g, threshold %g: listens to %d", goal, bound, threshold, len(claims))
			}
		}
		view.Shares, view.PriorDesigns = nil, []task.Design{l.task.Space.Decode(at)}
		if _, claims := l.considered(view, 1); len(claims) != 1 || claims[0].peers != 0 {
			t.Errorf("%s: prior designs: %v", goal, claims)
		}
		if why := l.suggest(view, 9, 1).Why; why.Source != "designs" || why.PeerCount != 0 || why.FromPeers() {
			t.Errorf("%s: %+v", goal, why)
		}
	}
}

// A private comparison decides in the place of the open one.
func TestComparisonIsAsked(t *testing.T) {
	l := newLab(t, "maximize", plane, "exact", "none")
	asked := 0.0
	l.strategy.passes = func(_ strategy.View, share strategy.Share, threshold float64) bool {
		asked = threshold
		return share.Author == peerID(1)
	}
	view := l.with(l.view(l.designs(5, 2), bump(0.3)), l.snapped([]float64{0.9, 0.9}), l.snapped([]float64{0.9, 0.1}))
	_, claims := l.considered(view, 1)
	if len(claims) != 1 || claims[0].share.Author != peerID(1) || asked < 0.1 {
		t.Errorf("threshold %g, passed %v", asked, claims)
	}
}

// Equal designs are one, with the voices of all who name it.
func TestClaimsMergeEqualDesigns(t *testing.T) {
	l := newLab(t, "maximize", plane, "exact", "none")
	one, two := l.snapped([]float64{0.9, 0.9}), l.snapped([]float64{0.9, 0.1})
	view := l.with(l.view(l.designs(5, 2), bump(0.3)), one, one, two)
	other := newLab(t, "maximize", mixed, "exact", "none")
	view.PriorDesigns = []task.Design{l.task.Space.Decode(two), other.task.Space.Decode(other.designs(1, 1)[0]), {}}
	_, claims := l.considered(view, 1)
	if len(claims) != 2 {
		t.Fatalf("%d claims", len(claims))
	}
	if why := l.suggest(view, 9, 1).Why; why.PeerCount != 3 || why.Observations != 30 {
		t.Errorf("%+v", why)
	}
}

// Four deviations are the limit.
func TestPlausibleClaimsAreWithinFourDeviations(t *testing.T) {
	claims := []claim{
		{x: []float64{0}, mean: -0.99, variance: 0.25},
		{x: []float64{0.2}, mean: -1.01, variance: 0.25},
		{x: []float64{0.4}, mean: 1, variance: 0}, // at the threshold and certain: it says nothing
		{x: []float64{0.6}, mean: 0.5, variance: 0},
		{x: []float64{0.8}, mean: 0.9, variance: 1},
		{x: []float64{0.8 + sameDesign/2}, mean: 0.9, variance: 1, peers: 2},
	}
	got := plausible(claims, 1)
	if len(got) != 2 || got[0].x[0] != 0.8 || got[0].peers != 2 || got[1].x[0] != 0 {
		t.Errorf("%+v", got)
	}
}

// The threshold is no lower than the mean at any design that somebody names.
func TestThresholdIsRaised(t *testing.T) {
	l := newLab(t, "maximize", plane, "exact", "none")
	view := l.with(l.view(l.designs(5, 2), bump(0.3)), l.designs(3, 3)...)
	want := math.Inf(-1)
	for _, x := range l.designs(3, 3) {
		mean, _ := view.Posterior.Predict(x)
		want = max(want, mean)
	}
	if got := predict(claimsOf(l.task, view), view.Posterior); math.Abs(got-want) > 1e-6 {
		t.Errorf("threshold %g, want %g", got, want)
	}
	if got := predict(nil, view.Posterior); !math.IsInf(got, -1) {
		t.Errorf("threshold %g without a claim", got)
	}
}

// Of many designs the most plausible are considered, whoever names them first.
func TestAtMostTwentyClaims(t *testing.T) {
	l := newLab(t, "maximize", plane, "exact", "none")
	view := l.with(l.view(l.designs(4, 2), bump(0.3)), l.designs(120, 6)...)
	claims := claimsOf(l.task, view)
	threshold := max(predict(claims, view.Posterior), 1)
	chosen := plausible(claims, threshold)
	if len(chosen) != maxClaims {
		t.Fatalf("%d claims", len(chosen))
	}
	better := 0
	for _, c := range claimsOf(l.task, view) {
		mean, variance := view.Posterior.Predict(c.x)
		if (mean-threshold)/math.Sqrt(variance) > chosen[maxClaims-1].score(threshold) {
			better++
		}
	}
	if better != maxClaims-1 {
		t.Errorf("%d claims are more plausible than the last chosen", better)
	}
	if f, left := l.considered(view, 1); len(left) <= fewClaims || len(f.samples) != maxKept {
		t.Errorf("%d claims left, %d samples", len(left), len(f.samples))
	}
}

// A lie costs about one evaluation: a peer insists on the worst design of the
// space. Within five evaluations of it the agent has contradicted the design, and
// from then on it suggests what it would alone.
func TestALieIsFoundOut(t *testing.T) {
	for _, model := range []string{"exact", "rff"} {
		l := newLab(t, "maximize", plane, model, "none")
		attack := l.snapped([]float64{1, 1})
		x := l.designs(4, 2)
		misled := 0
		for trial := uint64(5); trial < 15; trial++ {
			view := l.with(l.view(x, bump(0.2)), attack)
			got := l.suggest(view, trial, 1)
			if got.Why.Source == "designs" {
				misled++
			} else {
				l.checkAlone(view, trial, 1)
			}
			x = append(x, l.task.Space.Encode(got.Design))
		}
		t.Logf("%s: misled in %d of 10 evaluations", model, misled)
		if misled == 0 || misled > 5 {
			t.Errorf("%s: misled in %d of 10 evaluations", model, misled)
		}
	}
}

// A posterior that knows no joint distribution is used as if alone.
func TestPosteriorWithoutJoint(t *testing.T) {
	l := newLab(t, "maximize", plane, "exact", "none")
	view := l.with(l.view(l.designs(5, 2), bump(0.3)), l.snapped([]float64{0.9, 0.9}))
	view.Posterior = struct{ surrogate.Posterior }{view.Posterior}
	l.checkAlone(view, 9, 1)
}

// All outputs the same: no scale, but a posterior and a threshold.
func TestEqualOutputs(t *testing.T) {
	for _, threshold := range []string{"none", "open"} {
		l := newLab(t, "maximize", plane, "exact", threshold)
		view := l.view(l.designs(4, 2), func([]float64) float64 { return 7 })
		var bound *float64
		if threshold == open {
			bound = new(float64)
			*bound = 8
		}
		view.Shares = []*strategy.Share{l.share(0, l.snapped([]float64{0.9, 0.9}), bound)}
		if why := l.suggest(view, 9, 1).Why; why.Source != "designs" {
			t.Errorf("%s: %+v", threshold, why)
		}
	}
}

// A peer's design that the node cannot evaluate keeps its place: what is said of it is said
// of no other design.
func TestClaimsBeyondTheNodesOwnDesigns(t *testing.T) {
	l := newLab(t, "maximize", mixed, "exact", "none")
	there, here := l.designs(5, 3), l.designs(4, 4)
	view := l.with(l.view(here, bump(0.4)), there...)
	var rows [][]task.Value
	for _, x := range here {
		rows = append(rows, l.task.Space.Decode(x).Values())
	}
	own := *l.task
	var err error
	if own.Space, err = l.task.Space.Within(rows); err != nil {
		t.Fatal(err)
	}
	claims := claimsOf(&own, view)
	if len(claims) != len(there) {
		t.Fatalf("%d claims of %d peers", len(claims), len(there))
	}
	for i, c := range claims {
		if !near(c.x, there[i]) {
			t.Errorf("what was said of %v is said of %v", there[i], c.x)
		}
	}
}
