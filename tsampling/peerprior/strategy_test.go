package peerprior

import (
	"reflect"
	"sync"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
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

// What is said of a suggestion is what it rests on.
func TestWhySaysWhoIsBelieved(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	view := with(l.view(l.designs(5, random.SeedOf(1)), bump(0.3)), l.peersOf(2, 10, bump(0.7), 1)...)
	o := l.considered(view)
	for trial := uint64(4); trial < 10; trial++ {
		why := l.suggest(view, trial, random.SeedOf(trial)).Why
		if why.Source != Source || why.PeerCount != 2 || why.Observations != 20 || *why.OwnProbability != 1-o.peerOdds {
			t.Errorf("trial %d: %+v, believed are %g", trial, why, o.peerOdds)
		}
	}
}

// An agent that believes its peers less than not goes by entropy whenever it would alone,
// and then finds the same design as alone unless it knows where they believe the optimum
// to be; one that believes them goes by improvement.
func TestEntropyTakesTurnsWithoutBelief(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	for name, c := range map[string]struct {
		peers    func([]float64) float64
		peerOdds bool
	}{"unlike": {bump(0.7), false}, "alike": {unlike, true}} {
		view := with(l.view(l.designs(40, random.SeedOf(1)), unlike), l.peersOf(4, 25, c.peers, 1)...)
		if o := l.considered(view); (o.peerOdds > 0.5) != c.peerOdds {
			t.Fatalf("%s: believed are %g", name, o.peerOdds)
		}
		turns := 0
		for trial := uint64(41); trial < 49; trial++ {
			seed := random.SeedOf(trial)
			got, want := l.suggest(view, trial, seed).Design, l.suggestAlone(view, trial, seed).Design
			turn := l.strategy.alone.SeeksInformation(view, trial)
			if turn {
				turns++
			}
			if got.Equal(want) != (turn && !c.peerOdds) {
				t.Errorf("%s, trial %d: %v, alone %v", name, trial, got, want)
			}
		}
		if turns != 4 {
			t.Errorf("%s: entropy has %d turns of 8, expected 4", name, turns)
		}
	}
}

// After a failure entropy has its turn again, however much peers are believed.
func TestEntropyAfterAFailure(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	view := with(l.view(l.designs(40, random.SeedOf(1)), unlike), l.peersOf(4, 25, unlike, 1)...)
	view.Trials = append(view.Trials, strategy.Trial{ID: 41, Design: l.task.Space.Decode([]float64{0.5, 0.5}), State: strategy.Failed})
	for trial := uint64(42); trial < 48; trial++ {
		seed := random.SeedOf(trial)
		got, want := l.suggest(view, trial, seed).Design, l.suggestAlone(view, trial, seed).Design
		if got.Equal(want) != l.strategy.alone.SeeksInformation(view, trial) {
			t.Errorf("trial %d: %v, alone %v", trial, got, want)
		}
	}
}

// What peers say of where the optimum is counts beside what their means say, as far as they
// are believed: designs come nearer, and those whose means are borne out gain more from it
// than the contrary ones.
func TestPlacesDrawAsFarAsTheyAreBelieved(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	at := []float64{0.5, 0.35}
	said := protocol.Density{Observations: 20, Components: []protocol.Component{
		{Weight: 1, Std: nearby, Center: protocol.PointOf(l.task.Space, l.task.Space.Decode(at))},
	}}
	gain := func(peers func([]float64) float64) float64 {
		means := l.peersOf(4, 25, peers, 1)
		return average(func(seed uint64) float64 {
			view := with(l.view(l.designs(10, random.SeedOf(seed)), bump(0.3)), means...)
			for i := range 4 {
				share := *view.Shares[i]
				share.Kind, share.Value = protocol.DensityKind, said
				view.Shares = append(view.Shares, &share)
			}
			return l.strategy.attraction(view, l.considered(view)).Value(at)
		})
	}
	alike, contrary := gain(bump(0.32)), gain(scaled(bump(0.32), -1))
	t.Logf("a design there gains %.3f from alike peers, %.3f from contrary ones", alike, contrary)
	if !(alike > 2*contrary && contrary > 0) {
		t.Errorf("a design there gains %.3f from alike peers, %.3f from contrary ones", alike, contrary)
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
	view := with(l.view(l.designs(5, random.SeedOf(1)), bump(0.3)), l.peersOf(maxPeers+5, 6, bump(0.7), 1)...)
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

// Peers are heard up to a bound, those who know most first.
func TestThoseWhoKnowMostAreHeard(t *testing.T) {
	var means []protocol.Mean
	for i := range maxPeers + 40 {
		means = append(means, protocol.Mean{Observations: i + 1, Explained: 0.1 + 0.8*float64(i)/float64(maxPeers+40)})
	}
	chosen := peerMeans(with(strategy.View{Self: "me"}, means...), 1, random.SeedOf(1))
	if len(chosen) != maxPeers {
		t.Fatalf("%d are heard", len(chosen))
	}
	for _, p := range chosen {
		if p.Observations <= 40 {
			t.Errorf("heard is one of the %dth rank from below", p.Observations)
		}
	}
	// Of equals, everybody is heard some day.
	for i := range means {
		means[i].Explained = 0.5
	}
	sometime := map[int]bool{}
	for trial := range uint64(60) {
		for _, p := range peerMeans(with(strategy.View{Self: "me"}, means...), trial, random.SeedOf(1)) {
			sometime[p.Observations] = true
		}
	}
	if len(sometime) != len(means) {
		t.Errorf("of %d equals only %d were ever heard", len(means), len(sometime))
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

// A newcomer never tries a random start while it holds a share that rests on more than the
// starting designs, even where that tells it nothing true.
func TestNewcomersNeverStartAtRandom(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	for seed := range uint64(12) {
		means := l.peersOf(3, 15, bump(0.3), 100*seed)
		x := l.designs(3, random.SeedOf(seed))
		for trial := uint64(1); trial <= 3; trial++ {
			view := with(l.view(x[:trial-1], unlike), means...)
			if got := l.suggest(view, trial, random.SeedOf(seed)); got.Why.Source != Source {
				t.Errorf("seed %d, trial %d: %v", seed, trial, got.Why)
			}
		}
	}
}
