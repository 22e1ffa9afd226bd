package density

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/optprior/pooling"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

// tune runs a strategy on an objective; before each trial change alters the view.
func tune(t *testing.T, spec *task.Task, s strategy.Strategy, trials int, seed random.Seed, change func(*strategy.View)) []strategy.Trial {
	t.Helper()
	f := bowl(spec, 0.3)
	var x [][]float64
	var whys []strategy.Why
	var view strategy.View
	for id := 1; ; id++ {
		view = viewOf(t, spec, x, f)
		for i := range whys {
			view.Trials[i].Why = whys[i]
		}
		if id > trials {
			return view.Trials
		}
		change(&view)
		got := suggest(t, s, view, uint64(id), seed)
		x, whys = append(x, spec.Space.Encode(got.Design)), append(whys, got.Why)
	}
}

// With nothing to listen to every trial is the one of LogEI, and so it is where
// what there is does not count.
func TestWithoutDensitiesItIsLogEI(t *testing.T) {
	for _, setup := range []struct{ parameters, model string }{{plane, "rff"}, {mixed, "exact"}, {small, "rff"}, {small, "exact"}} {
		spec := newTask(t, setup.parameters, setup.model, "")
		deaf := newTask(t, setup.parameters, setup.model, ", beta: 0")
		said := shareOf(t, spec, "you", around(spec, 0.1, make([]float64, spec.Space.Dim())))
		foreign := *said
		foreign.Value = protocol.Weights{}
		for name, c := range map[string]struct {
			spec   *task.Task
			shares []*strategy.Share
		}{
			"no density of a peer": {spec, []*strategy.Share{&foreign}},
			"beta 0":               {deaf, []*strategy.Share{said}},
		} {
			got := tune(t, c.spec, New(c.spec), 7, random.SeedOf(1), func(v *strategy.View) { v.Shares = c.shares })
			for i, want := range tune(t, c.spec, alone.NewLogEI(c.spec).WithoutCentre(), 7, random.SeedOf(1), func(*strategy.View) {}) {
				if !got[i].Design.Equal(want.Design) || got[i].Why.String() != want.Why.String() {
					t.Fatalf("%s, %s: trial %d is %v (%v), alone it is %v (%v)", setup.model, name, i+1, got[i].Design, got[i].Why, want.Design, want.Why)
				}
			}
		}
	}
}

// No peer that has no more than the starting designs changes them.
func TestStartingDesignsAreOwn(t *testing.T) {
	spec := newTask(t, plane, "exact", "")
	view := viewOf(t, spec, nil, nil)
	little := around(spec, 0.1, []float64{0.3, 0.3})
	little.Observations = spec.Strategy.InitialDesigns
	view.Shares = []*strategy.Share{shareOf(t, spec, "you", little)}
	for id := uint64(1); id <= 4; id++ {
		got, want := suggest(t, New(spec), view, id, random.SeedOf(1)), suggest(t, alone.NewLogEI(spec).WithoutCentre(), view, id, random.SeedOf(1))
		if !got.Design.Equal(want.Design) || got.Why.Source != strategy.Initial {
			t.Errorf("trial %d: %+v, want %+v", id, got, want)
		}
	}
}

// A newcomer among peers that are past their starting designs skips its own: its first design
// is where they believe the optimum, and later ones weigh its own results too.
func TestNewcomersSkipTheStart(t *testing.T) {
	spec := newTask(t, plane, "exact", "")
	shares := []*strategy.Share{shareOf(t, spec, "you", around(spec, 0.1, []float64{0.3, 0.3}))}
	s := New(spec)
	if !s.UsesSharesFromStart() {
		t.Error("a newcomer does not wait for shares")
	}
	view := viewOf(t, spec, nil, nil)
	view.Shares = shares
	got := suggest(t, s, view, 1, random.SeedOf(1))
	if x := spec.Space.Encode(got.Design); math.Hypot(x[0]-0.3, x[1]-0.3) > 0.01 || got.Why.PeerCount != 1 {
		t.Errorf("the first design is %v (%v), expected one near (0.3, 0.3)", got.Design, got.Why)
	}
	view = viewOf(t, spec, [][]float64{{0.3, 0.3}}, bowl(spec, 0.7))
	view.Shares = shares
	if got := suggest(t, s, view, 2, random.SeedOf(1)); got.Why.Source == strategy.Initial {
		t.Errorf("the second design is %v (%v), expected one of the model", got.Design, got.Why)
	}
}

// Early on, peers whose estimate agrees with the own outcomes draw the agent there, in each kind of
// space.
func TestPeersAreListenedTo(t *testing.T) {
	for _, model := range []string{"exact", "rff"} {
		for _, parameters := range []string{plane, mixed, small} {
			spec := newTask(t, parameters, model, "")
			s := New(spec)
			centre := make([]float64, spec.Space.Dim())
			centre[len(centre)-1], centre[0] = 1, 0.3
			spec.Space.Snap(centre)
			near := func(x []float64) (square float64) {
				for i := range x {
					square += (x[i] - centre[i]) * (x[i] - centre[i])
				}
				return square
			}
			view := viewOf(t, spec, points(spec, 3), near)
			view.Shares = []*strategy.Share{shareOf(t, spec, "a", around(spec, 0.1, centre)), shareOf(t, spec, "b", around(spec, 0.1, centre))}
			got := suggest(t, s, view, 4, random.SeedOf(1))
			if got.Why.Source != "density" || got.Why.PeerCount != 2 || got.Why.Observations != 14 || !got.Why.FromPeers() {
				t.Errorf("%s: %+v", model, got.Why)
			}
			if again := suggest(t, s, view, 4, random.SeedOf(1)); !reflect.DeepEqual(again, got) {
				t.Errorf("%s, asked twice: %+v and %+v", model, got, again)
			}
			alone := suggest(t, s, viewOf(t, spec, points(spec, 3), near), 4, random.SeedOf(1))
			m := mixtureOf(spec, around(spec, 0.1, centre))
			with, without := logOf(m, spec.Space.Encode(got.Design)), logOf(m, spec.Space.Encode(alone.Design))
			if !(with > 0) || !(with > without) {
				t.Errorf("%s: %v has ln π = %g, alone %v with %g", model, got.Design, with, alone.Design, without)
			}
		}
	}
}

// A prior design is one density more, around which the task's spread counts,
// or 0.2.
func TestSuggestedDesigns(t *testing.T) {
	for keys, spread := range map[string]float64{"": 0.2, ", spread: 0.05": 0.05, ", components: 3": 0.2} {
		spec := newTask(t, mixed, "exact", keys)
		view := viewOf(t, spec, points(spec, 3), bowl(spec, 0.3))
		at := placeOf(spec, 0.6, 0.4)
		view.PriorDesigns = []task.Design{spec.Space.Decode(at)}
		got := suggest(t, New(spec), view, 4, random.SeedOf(1))
		if got.Why.Source != "density" || got.Why.PeerCount != 0 || got.Why.FromPeers() {
			t.Errorf("%+v", got.Why)
		}
		received, _ := New(spec).listen(view, 4, random.SeedOf(1))
		if len(received.densities) != 1 {
			t.Fatalf("%d densities", len(received.densities))
		}
		for _, x := range designs(spec, 20, random.SeedOf(3).Stream("designs", 0)) {
			if got, want := received.densities[0].Value(x), logOf(mixtureOf(spec, around(spec, spread, at)), x); math.Abs(got-want) > 1e-3*(1+math.Abs(want)) {
				t.Errorf("%q: ln π is %g at %v, want %g", keys, got, x, want)
			}
		}
		view.Shares = []*strategy.Share{shareOf(t, spec, "a", around(spec, 0.1, at))}
		if got := suggest(t, New(spec), view, 4, random.SeedOf(1)); got.Why.PeerCount != 1 {
			t.Errorf("beside a peer: %+v", got.Why)
		}
	}
}

// With pooling: mean, many peers with the same density count as one, and a peer with a uniform
// density halves the term of another. With pooling: product the terms are added.
func TestPeersArePooled(t *testing.T) {
	d := around(newTask(t, mixed, "exact", ""), 0.2, placeOf(newTask(t, mixed, "exact", ""), 0.6, 0.4))
	for rule, factors := range map[string][2]float64{"mean": {1, 0.5}, "product": {5, 1}} {
		spec := newTask(t, mixed, "exact", ", beta: 7, pooling: "+rule)
		pool := func(all ...protocol.Density) *pooling.Pool {
			view := strategy.View{Task: spec, Self: "me", Observations: 10}
			for i, d := range all {
				view.Shares = append(view.Shares, shareOf(t, spec, fmt.Sprint("peer", i), d))
			}
			s := New(spec)
			received, _ := s.listen(view, 11, random.SeedOf(1))
			return pooling.New(received.densities, s.weights(view, 11, random.SeedOf(1), received, false), exponent(settingsOf(spec), 10))
		}
		nothing := around(spec, protocol.MaxSpread, placeOf(spec, 0.6, 0.4))
		one, many, beside := pool(d), pool(d, d, d, d, d), pool(d, nothing)
		for _, x := range designs(spec, 50, random.SeedOf(8).Stream("designs", 0)) {
			claimed, _ := pooling.Bounded(logOf(mixtureOf(spec, d), x))
			if got, want := one.Value(x), 0.7*claimed; math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s, one peer: %g, want %g", rule, got, want)
			}
			if got, want := many.Value(x), factors[0]*one.Value(x); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("%s: five peers move the score by %g, want %g", rule, got, want)
			}
			// The widest density is uniform up to 0.02.
			if got, want := beside.Value(x), factors[1]*one.Value(x); math.Abs(got-want) > 0.7*0.02 {
				t.Errorf("%s, beside a uniform density: %g, want %g", rule, got, want)
			}
		}
	}
}

// logEIOf is the function that the agent alone maximises.
func logEIOf(spec *task.Task, view strategy.View) acquisition.Function {
	best := math.Inf(-1)
	for _, trial := range view.Trials {
		mean, _ := view.Posterior.Predict(spec.Space.Encode(trial.Design))
		best = math.Max(best, mean)
	}
	return acquisition.LogEI(view.Posterior, best)
}

// Whatever all peers publish, the expected improvement is at least (κ/C)^(S·γ_t) of the largest, and
// nearly the largest when t is large. S is the influence of the n peers' rule: 1 of the mean, n of
// the product, and at most n by evidence. (With at most five observations the best of them is what
// Search.Best knows.)
func TestWhatHostilePeersCost(t *testing.T) {
	for rule, influence := range map[string]float64{"mean": 1, "product": 10, "evidence": 10} {
		spec := newTask(t, mixed, "exact", ", components: 16, pooling: "+rule)
		view := viewOf(t, spec, points(spec, 5), bowl(spec, 0.3))
		rng := random.SeedOf(6).Stream("densities", 0)
		for i := range 10 {
			view.Shares = append(view.Shares, shareOf(t, spec, fmt.Sprint("peer", i), around(spec, protocol.MinSpread, acquisition.Sample(spec.Space, rng))))
		}
		f := logEIOf(spec, view)
		alone := suggest(t, alone.NewLogEI(spec).WithoutCentre(), view, 6, random.SeedOf(1))
		most := f.Value(spec.Space.Encode(alone.Design))
		for _, observations := range []int{5, 50, 500, 50_000, 5_000_000} {
			view.Observations = observations
			got := suggest(t, New(spec), view, 6, random.SeedOf(1))
			lost := most - f.Value(spec.Space.Encode(got.Design))
			// The two maximisers may differ in a digit far behind, or in the hill.
			if allowed := influence * 5 / float64(observations) * math.Log(pooling.Ceiling/pooling.UniformShare); lost > allowed+1e-4 {
				t.Errorf("%s, after %d observations: the peers cost %g of ln EI, the bound is %g", rule, observations, lost, allowed)
			}
		}
	}
}

// Peers that all believe in the wrong corner delay the agent and do not keep it
// from the optimum: of 25 trials the last ones are better than 0.002, which a
// uniform design is with 0.6 %.
func TestWrongPeersDoNotPreventConvergence(t *testing.T) {
	spec := newTask(t, plane, "exact", "")
	wrong := around(spec, 0.1, []float64{1, 1})
	right := around(spec, 0.1, []float64{0.3, 0.3})
	best := func(d protocol.Density, trials int) float64 {
		least := math.Inf(1)
		share := []*strategy.Share{shareOf(t, spec, "a", d), shareOf(t, spec, "b", d)}
		for _, trial := range tune(t, spec, New(spec), trials, random.SeedOf(2), func(v *strategy.View) { v.Shares = share }) {
			least = math.Min(least, trial.Outcome.Value)
		}
		return least
	}
	if got := best(wrong, 25); got > 0.002 {
		t.Errorf("with wrong peers the best of 25 trials is %g", got)
	}
	// Those that know the place lead there at once: the fourth trial is the first
	// after the start.
	if got := best(right, 4); got > 0.02 {
		t.Errorf("with right peers the best of 4 trials is %g", got)
	}
}

// Of very many peers a bounded number is heard, others in every trial.
func TestVeryManyPeers(t *testing.T) {
	spec := newTask(t, line, "exact", "")
	view := viewOf(t, spec, points(spec, 3), bowl(spec, 0.3))
	for i := range 3 * maxPeers {
		d := around(spec, 0.1, []float64{0.5})
		d.Observations = 1 + i
		view.Shares = append(view.Shares, shareOf(t, spec, fmt.Sprint("peer", i), d))
	}
	received := map[int]bool{}
	for trial := range uint64(30) {
		chosen := optprior.Peers(view, maxPeers, random.SeedOf(1).Stream("which peers", trial))
		if len(chosen) != maxPeers {
			t.Fatalf("%d peers are heard", len(chosen))
		}
		twice := map[int]bool{}
		for _, d := range chosen {
			if twice[d.Observations] {
				t.Fatalf("one peer is heard twice")
			}
			received[d.Observations], twice[d.Observations] = true, true
		}
	}
	// That one of the 192 is not among 64 in any of 30 trials happens once in 1000
	// seeds.
	if len(received) != 3*maxPeers {
		t.Errorf("the strategy uses only %d peers", len(received))
	}
	if got := suggest(t, New(spec), view, 4, random.SeedOf(1)); got.Why.PeerCount != maxPeers {
		t.Errorf("listens to %d", got.Why.PeerCount)
	}
}

func BenchmarkSuggest(b *testing.B) {
	spec := newTask(b, mixed, "exact", ", components: 16")
	view := viewOf(b, spec, points(spec, 50), bowl(spec, 0.3))
	rng := random.SeedOf(7).Stream("densities", 0)
	for _, peers := range []int{0, 1, 10, 1000} {
		view.Shares = nil
		for i := range peers {
			view.Shares = append(view.Shares, shareOf(b, spec, fmt.Sprint("peer", i), randomDensity(spec, rng)))
		}
		b.Run(fmt.Sprint(peers), func(b *testing.B) {
			for b.Loop() {
				suggest(b, New(spec), view, 51, random.SeedOf(1))
			}
		})
	}
}
