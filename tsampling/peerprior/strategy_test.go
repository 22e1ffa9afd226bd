package peerprior

import (
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/surrogate"
	"github.com/fbo-node/fbo/task"
)

// equalToAlone compares some suggestions with those of an agent alone, of which every third
// after the starting designs goes by entropy.
func (l *lab) equalToAlone(t *testing.T, view strategy.View, first uint64) {
	t.Helper()
	for trial := first; trial < first+12; trial++ {
		seed := random.SeedOf(trial)
		got, want := l.suggest(view, trial, seed), l.suggestAlone(view, trial, seed)
		if !got.Design.Equal(want.Design) || got.Why != want.Why {
			t.Fatalf("trial %d: %v (%v), alone %v (%v)", trial, got.Design, got.Why, want.Design, want.Why)
		}
	}
}

func TestWithoutPeersItIsTheEngineAlone(t *testing.T) {
	for _, model := range []string{exact, linear} {
		l := newLab(t, "maximize", plane, model)
		view := l.view(l.designs(6, random.SeedOf(1)), bump(0.3))
		l.equalToAlone(t, view, 1)
		// No mean of a peer: another kind, and one that knows nothing.
		m := l.peersOf(1, 10, bump(0.7), 1)[0]
		ignorant := m
		ignorant.Explained = 0
		shares := sharesOf(m, ignorant)
		shares[0].Value = protocol.Weights{}
		view.Shares = shares
		l.equalToAlone(t, view, 1)
	}
}

// Who has found all designs equal does not share; a mean that says nothing
// about where to look is no reason to leave what the agent does alone either.
func TestConstantSharesAreTheEngineAlone(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	m := l.peersOf(1, 10, bump(0.7), 1)[0]
	clear(m.Values)
	for _, observations := range []int{0, 2, 6} {
		l.equalToAlone(t, with(l.view(l.designs(observations, random.SeedOf(1)), bump(0.3)), m, m), 1)
	}
}

// Whenever the model without peers is drawn, the design is that of an agent alone with the
// same seed.
func TestModelAloneIsTheEngine(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	view := with(l.view(l.designs(5, random.SeedOf(1)), bump(0.3)), l.peersOf(2, 10, bump(0.7), 1)...)
	b := l.considered(view)
	alone, joined := 0, 0
	for trial := uint64(4); trial < 64; trial++ {
		seed := random.SeedOf(trial)
		f, err := b.draw(seed.Stream("own sample", trial), seed.Stream("which model", trial))
		if err != nil {
			t.Fatal(err)
		}
		got := l.suggest(view, trial, seed)
		switch {
		case f != nil:
			joined++
			if got.Why.Source != "peers" || got.Why.Listened != 2 || *got.Why.OwnProbability != b.ownProbability() {
				t.Fatalf("trial %d follows peers, and says %+v", trial, got.Why)
			}
		default:
			alone++
			if want := l.suggestAlone(view, trial, seed); !got.Design.Equal(want.Design) || got.Why != want.Why {
				t.Fatalf("trial %d: %v (%v), alone %v (%v)", trial, got.Design, got.Why, want.Design, want.Why)
			}
		}
	}
	if alone == 0 || joined == 0 {
		t.Errorf("%d suggestions alone and %d with peers", alone, joined)
	}
}

// However much speaks for the peers, an agent goes without them in one suggestion of ten
// after many observations of its own, and in one of twenty after five; no more often than
// that where they are right.
func TestAgentGoesAloneNowAndThen(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	means := l.peersOf(4, 25, bump(0.6), 50)
	for _, c := range []struct {
		observations int
		least, most  float64
	}{{0, 0, .2}, {5, .05, .08}, {95, .095, .105}} {
		b := l.considered(with(l.view(l.designs(c.observations, random.SeedOf(4)), bump(0.6)), means...))
		own := b.ownProbability()
		if !(own >= c.least-1e-12 && own < c.most) {
			t.Errorf("t = %d: alone with probability %g, want from %g to %g", c.observations, own, c.least, c.most)
		}
		const draws = 2000
		alone := 0
		for i := range uint64(draws) {
			if _, joined := b.joins(random.SeedOf(7).Stream("which model", i)); !joined {
				alone++
			}
		}
		// Five standard deviations.
		if part := float64(alone) / draws; math.Abs(part-own) > 5*math.Sqrt(own*(1-own)/draws) {
			t.Errorf("t = %d: alone in %g of the draws, and says %g", c.observations, part, own)
		}
	}
}

// The kernel has the average lengthscales of the agent and its peers, unless the own
// observations speak against these.
func TestWhoseLengthscalesAreTaken(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	f := wave(1, 0, 0)
	for name, c := range map[string]struct {
		own, peers []float64
		averaged   bool
	}{
		"all but the same": {[]float64{.4, 2}, []float64{.4, 1.8}, true},
		"peers are wrong":  {[]float64{.2, 2}, []float64{5, .02}, false},
		"peers are right":  {[]float64{2, .05}, []float64{.2, 2}, true},
	} {
		means := l.peersOf(4, 20, f, 1)
		for i := range means {
			means[i].Lengthscales = c.peers
		}
		x := l.designs(15, random.SeedOf(3))
		view := with(l.view(x, f), means...)
		var err error
		if view.Posterior, err = l.model.Condition(strategy.Observed(l.task, view.Trials, task.Objective), surrogate.Hyperparameters{Lengthscales: c.own, Noise: 1e-3}, nil); err != nil {
			t.Fatal(err)
		}
		got := l.considered(view).data.h.Lengthscales
		if averaged := !slices.Equal(got, c.own); averaged != c.averaged {
			t.Errorf("%s: lengthscales %v, the agent has %v, its peers %v", name, got, c.own, c.peers)
		}
	}
}

// The starting designs are random unless a peer knows more than they would tell.
func TestWhoSkipsTheStart(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	few, many := l.peersOf(1, 3, bump(0.7), 1), l.peersOf(1, 12, bump(0.7), 1)
	l.equalToAlone(t, with(l.view(nil, nil), few...), 1)
	for trial := range uint64(20) {
		got := l.suggest(with(l.view(nil, nil), many...), 1, random.SeedOf(trial))
		l.checkInSpace(got.Design)
		if got.Why.Source != "peers" {
			t.Errorf("seed %d: a peer has many observations, and the first design is from %v", trial, got.Why)
		}
	}
}

// The same view, trial and seed give the same design; asking changes nothing.
func TestSuggestIsPure(t *testing.T) {
	l := newLab(t, "minimize", mixed, exact)
	view := with(l.view(l.designs(5, random.SeedOf(1)), bump(0.3)), l.peersOf(mostPeers+5, 6, bump(0.7), 1)...)
	for trial := uint64(6); trial < 10; trial++ {
		first, second := l.suggest(view, trial, random.SeedOf(trial)), l.suggest(view, trial, random.SeedOf(trial))
		if !first.Design.Equal(second.Design) || !reflect.DeepEqual(first.Why, second.Why) {
			t.Errorf("trial %d: %v, then %v", trial, first, second)
		}
	}
	if a, b := l.strategy.Recommend(t.Context(), view, random.SeedOf(1)), l.strategy.Recommend(t.Context(), view, random.SeedOf(1)); !a.Equal(b) {
		t.Errorf("recommended %v, then %v", a, b)
	}
}

// Peers are listened to up to a bound, those who know most first.
func TestChooseThoseWhoKnowMost(t *testing.T) {
	var means []protocol.Mean
	for i := range mostPeers + 40 {
		means = append(means, protocol.Mean{Observations: i + 1, Explained: 0.1 + 0.8*float64(i)/float64(mostPeers+40)})
	}
	chosen := choose(with(strategy.View{Self: "me"}, means...), 1, random.SeedOf(1))
	if len(chosen) != mostPeers {
		t.Fatalf("%d are chosen", len(chosen))
	}
	for _, p := range chosen {
		if p.Observations <= 40 {
			t.Errorf("chosen is one of the %dth rank from below", p.Observations)
		}
	}
	// Of equals, everybody is heard some day.
	for i := range means {
		means[i].Explained = 0.5
	}
	heard := map[int]bool{}
	for trial := range uint64(60) {
		for _, p := range choose(with(strategy.View{Self: "me"}, means...), trial, random.SeedOf(1)) {
			heard[p.Observations] = true
		}
	}
	if len(heard) != len(means) {
		t.Errorf("of %d equals only %d were ever heard", len(means), len(heard))
	}
}

// A task that minimises is the same as one that maximises the negated objective.
func TestGoalsAreMirrored(t *testing.T) {
	var got [2]task.Design
	for i, goal := range []string{"maximize", "minimize"} {
		l := newLab(t, goal, plane, exact)
		// The tasks differ in their shared features, so only a clear case is alike.
		means := l.peersOf(4, 25, bump(0.7), 1)
		for j := range means {
			if level := means[j].Level; !(level < 1 && level > -1) {
				t.Errorf("%s: a mean of level %g for outputs between 0 and 1", goal, level)
			}
		}
		view := with(l.view(l.designs(10, random.SeedOf(1)), bump(0.7)), means...)
		got[i] = l.strategy.Recommend(t.Context(), view, random.SeedOf(1))
		for _, name := range []string{"x", "y"} {
			if v := got[i].Float(name); v < 0.55 || v > 0.85 {
				t.Errorf("%s: recommended is %v, best is 0.7", goal, got[i])
			}
		}
	}
}

// Many suggestions at a time may rest on one share, and get from it what each would
// get alone.
func TestAShareServesManySuggestions(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	own, means := l.view(l.designs(5, random.SeedOf(1)), bump(0.3)), l.peersOf(2, 10, bump(0.7), 1)
	shared := with(own, means...)
	var group sync.WaitGroup
	for trial := range uint64(8) {
		group.Go(func() {
			got, err := l.strategy.Suggest(t.Context(), shared, trial, random.SeedOf(2))
			want, wantErr := l.strategy.Suggest(t.Context(), with(own, means...), trial, random.SeedOf(2))
			if err != nil || wantErr != nil || !got.Design.Equal(want.Design) || !reflect.DeepEqual(got.Why, want.Why) {
				t.Errorf("trial %d: %v (%v), with shares of its own %v (%v)", trial, got.Design, err, want.Design, wantErr)
			}
		})
	}
	group.Wait()
}

// A newcomer never tries a random start while it holds a share that rests on more
// than the starting designs: without outcomes it listens in any case, and later,
// where it is to follow nobody, it follows its own observations. Among peers that
// tell it nothing true this is put to the test most.
func TestNewcomersNeverStartAtRandom(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	for seed := range uint64(12) {
		means := l.peersOf(3, 15, bump(0.3), 100*seed)
		x := l.designs(3, random.SeedOf(seed))
		for trial := uint64(1); trial <= 3; trial++ {
			view := with(l.view(x[:trial-1], unlike), means...)
			got := l.suggest(view, trial, random.SeedOf(seed))
			if got.Why.Source != "peers" && got.Why.Source != "improve" {
				t.Errorf("seed %d, trial %d: %v", seed, trial, got.Why)
			}
			if trial == 1 && got.Why.Source != "peers" {
				t.Errorf("seed %d: the first design is from %v", seed, got.Why)
			}
		}
	}
}
