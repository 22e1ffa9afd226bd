package peerprior

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// wide is the spread of coarse shares where all ranges are 1: 0.2, and what the grid hides.
var wide = math.Hypot(spread, coarsen.Cell/math.Sqrt(12))

// newCoarseLab is a lab of a task with coarse shares, without the exact strategy.
func newCoarseLab(t testing.TB, parameters string) (*lab, *Strategy) {
	t.Helper()
	l := &lab{t: t, task: parseKeys(t, parameters, "share: coarse, initial_designs: 3")}
	var err error
	if l.features, err = surrogate.SharedMap(l.task); err != nil {
		t.Fatal(err)
	}
	if l.strategy, err = NewCoarse(l.task, l.features); err != nil {
		t.Fatal(err)
	}
	return l, l.strategy
}

func parseKeys(t testing.TB, parameters, keys string) *task.Task {
	t.Helper()
	return strategytest.Task(t, strategy.Set{Register()}, "name: test\ngoal: maximize\nparameters: [%s]\nsurrogate: {features: 64}\nstrategy: {type: peer-prior, %s}\n", parameters, keys)
}

// place is what a peer says that believes the optimum to be where all numbers are at, with
// the first choices.
func (l *lab) place(at float64, observations int) protocol.Density {
	x := make([]float64, l.task.Space.Dim())
	for _, block := range l.task.Space.Blocks() {
		x[block.Start] = at
		if block.Kind == task.Categorical {
			x[block.Start] = 1
		}
	}
	return protocol.Density{Observations: observations, Components: []protocol.Component{
		{Weight: 1, Std: wide, Center: protocol.PointOf(l.task.Space, l.task.Space.Decode(x))},
	}}
}

func saying(view strategy.View, densityPeers ...protocol.Density) strategy.View {
	view.Shares = nil
	for i, d := range densityPeers {
		view.Shares = append(view.Shares, &strategy.Share{
			Share: protocol.Share{Key: protocol.Key{Author: peerID(i), Kind: protocol.DensityKind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: 1}},
			Value: d,
		})
	}
	return view
}

func ask(t testing.TB, s strategy.Strategy, view strategy.View, trial uint64, seed random.Seed) strategy.Suggestion {
	t.Helper()
	got, err := s.Suggest(t.Context(), view, trial, seed)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Without peers the designs are those of a node alone, one for one and word for word.
func TestCoarseWithoutPeersIsAlone(t *testing.T) {
	for _, parameters := range []string{plane, mixed} {
		l, s := newCoarseLab(t, parameters)
		for count := range 7 {
			view := l.view(l.designs(count, random.SeedOf(7)), bump(0.3))
			trial, seed := uint64(count+1), random.SeedOf(uint64(count))
			if got, want := ask(t, s, view, trial, seed), l.suggestAlone(view, trial, seed); !reflect.DeepEqual(got, want) {
				t.Errorf("trial %d: %+v, alone %+v", trial, got, want)
			}
		}
	}
}

// With peers designs lie nearer to what they believe: of 40, alternately of expected
// improvement and entropy search, 30 at least, which has probability 0.001 where each does
// with probability 1/2.
func TestCoarseIsDrawnToPeers(t *testing.T) {
	l, s := newCoarseLab(t, plane)
	distance := func(d task.Design, at float64) float64 {
		x := l.task.Space.Encode(d)
		return math.Hypot(x[0]-at, x[1]-at)
	}
	nearer := 0
	for i := range uint64(40) {
		count := 4 + int(i%4)
		view := l.view(l.designs(count, random.SeedOf(i)), bump(0.5))
		at := []float64{0.15, 0.85}[i/2%2]
		got := ask(t, s, saying(view, l.place(at, 9), l.place(at, 12)), uint64(count+1), random.SeedOf(i))
		want := l.suggestAlone(view, uint64(count+1), random.SeedOf(i))
		if got.Design.Equal(want.Design) {
			t.Errorf("seed %d: the design of a node alone", i)
		}
		if distance(got.Design, at) < distance(want.Design, at) {
			nearer++
		}
		why := got.Why
		if why.Source != Source || why.PeerCount != 2 || why.Observations != 21 || !strings.HasSuffix(why.Phrase, ", informed by 2 peers") {
			t.Errorf("why: %+v", why)
		}
	}
	if nearer < 30 {
		t.Errorf("%d of 40 designs are nearer to where peers believe the optimum to be", nearer)
	}
}

// Starting designs are skipped if and only if somebody has more observations than there are
// starting designs.
func TestCoarseShareSkipsStartingDesigns(t *testing.T) {
	l, s := newCoarseLab(t, plane)
	for count := range 3 {
		view := l.view(l.designs(count, random.SeedOf(7)), bump(0.3))
		trial, seed := uint64(count+1), random.SeedOf(uint64(count))
		start := l.suggestAlone(view, trial, seed)
		for _, c := range []struct {
			observations []int
			skipped      bool
		}{{[]int{1}, false}, {[]int{3, 3, 3}, false}, {[]int{4}, true}, {[]int{1, 3, 4}, true}} {
			var densityPeers []protocol.Density
			for _, n := range c.observations {
				densityPeers = append(densityPeers, l.place(0.9, n))
			}
			got := ask(t, s, saying(view, densityPeers...), trial, seed)
			if skipped := !reflect.DeepEqual(got, start); skipped != c.skipped || skipped != (got.Why.PeerCount > 0) {
				t.Errorf("trial %d, peers with %v observations: %+v, alone %+v", trial, c.observations, got, start)
			}
		}
	}
}

// Who knows nothing looks where peers believe the optimum to be: at the centre that one
// says, and between those of two whose densities overlap.
func TestCoarseWithoutAPosterior(t *testing.T) {
	for _, parameters := range []string{plane, mixed} {
		l, s := newCoarseLab(t, parameters)
		for _, c := range []struct{ densityPeers, want []float64 }{{[]float64{0.75}, []float64{0.75}}, {[]float64{0.5, 0.75}, []float64{0.5, 0.75}}} {
			var said []protocol.Density
			for _, at := range c.densityPeers {
				said = append(said, l.place(at, 10))
			}
			got := ask(t, s, saying(l.view(nil, nil), said...), 1, random.SeedOf(1))
			x := l.task.Space.Encode(got.Design)
			low, high := c.want[0]-0.02, c.want[len(c.want)-1]+0.02
			if !(x[0] >= low && x[0] <= high && x[1] >= low && x[1] <= high) {
				t.Errorf("%v said, %v looked at", c.densityPeers, got.Design)
			}
			f := optprior.LogPrior(s.densities(said), trust*(1-aloneOdds), exponent)
			best, rng := f.Value(x), random.SeedOf(2).Stream("designs", 0)
			for range 500 {
				other := acquisition.Sample(l.task.Space, rng)
				l.task.Space.Snap(other)
				if v := f.Value(other); v > best+1e-3 {
					t.Fatalf("%g at %v, %g at the design %v", v, other, best, got.Design)
				}
			}
			if got.Why.PeerCount != len(said) || !strings.HasPrefix(got.Why.Phrase, "best guess") {
				t.Errorf("why: %+v", got.Why)
			}
			l.checkInSpace(got.Design)
		}
	}
}

// Own observations outweigh what peers say: the term goes down as 1/t, and as the agent
// believes its peers less.
func TestCoarseWeightFades(t *testing.T) {
	l, s := newCoarseLab(t, plane)
	x := []float64{0.1, 0.2}
	term := func(observations int, peerOdds float64) float64 {
		view := saying(l.view(l.designs(observations, random.SeedOf(1)), bump(0.3)), l.place(0.9, 10))
		o := l.considered(view)
		o.peerOdds = peerOdds
		return s.attraction(view, o).Value(x)
	}
	for _, observations := range []int{1, 5, 50} {
		if got, want := term(observations, 0.6), term(0, 0.6)/float64(observations); math.Abs(got-want) > 1e-12 {
			t.Errorf("%g after %d observations, want %g", got, observations, want)
		}
	}
	if some, none := term(5, 0.5), term(5, 0); !(some < -0.1) || none != 0 {
		t.Errorf("%g where peers are half believed, %g where they are not", some, none)
	}
}

// Where the best design has been tried, what is said of the one in its place is what a node
// alone says, beside whose optima it was drawn to.
func TestCoarseWhereMuchHasBeenTried(t *testing.T) {
	l, s := newCoarseLab(t, "{name: n, type: int, low: 1, high: 6}")
	again, next := 0, 0
	for count := 3; count <= 6; count++ {
		for i := range uint64(6) {
			var x [][]float64
			for n := range count {
				x = append(x, []float64{float64(n) / 5})
				l.task.Space.Snap(x[n])
			}
			view := saying(l.view(x, bump(0.3)), l.place(0, 9))
			why := ask(t, s, view, uint64(count+1), random.SeedOf(i)).Why
			switch {
			case why.RepeatOf != 0:
				again++
			case why.NextBest != 0:
				next++
			}
			if why.Source != Source || why.PeerCount != 1 || why.Observations != 9 || (why.RepeatOf != 0) != (count == 6) {
				t.Errorf("%d of 6 tried: %+v", count, why)
			}
		}
	}
	if again == 0 || next == 0 {
		t.Errorf("%d designs again, %d next best", again, next)
	}
}

// A liar among n honest peers takes at most weight·log((n+1)/n) from the score of any
// design, and nobody more than weight·log(1/(1-trust)), whatever they say.
func TestCoarseShareBoundsOneFalsePeer(t *testing.T) {
	l, s := newCoarseLab(t, mixed)
	rng := random.SeedOf(3).Stream("points", 0)
	honest := []protocol.Density{l.place(0.3, 9), l.place(0.35, 20), l.place(0.25, 4)}
	liar := l.place(0.99, math.MaxInt32)
	for _, weight := range []float64{5, 0.5} {
		before, after := optprior.LogPrior(s.densities(honest), trust, weight), optprior.LogPrior(s.densities(append(honest[:3:3], liar)), trust, weight)
		alone := optprior.LogPrior(s.densities([]protocol.Density{liar}), trust, weight)
		for range 1000 {
			x := acquisition.Sample(l.task.Space, rng)
			if taken, most := before.Value(x)-after.Value(x), weight*math.Log(4./3); taken > most+1e-9 {
				t.Fatalf("takes %g, at most %g", taken, most)
			}
			if v, least := alone.Value(x), weight*math.Log(1-trust); v < least-1e-9 {
				t.Fatalf("a score of %g, %g at least", v, least)
			}
		}
	}
	view := l.view(l.designs(30, random.SeedOf(7)), bump(0.3))
	got := ask(t, s, saying(view, l.place(1, math.MaxInt32), l.place(1, math.MaxInt32)), 31, random.SeedOf(1))
	l.checkInSpace(got.Design)
	if got.Why.Observations < math.MaxInt32 {
		t.Errorf("rests on %d observations", got.Why.Observations)
	}
}

// Of 1000 peers 20 count, drawn anew for each trial, nobody preferred: the observations that
// 60 trials rest on are those of all on average, within 4 standard errors (a draw is of
// 1 to 1000, with a standard deviation of 289).
func TestCoarseCountsSome(t *testing.T) {
	const trials = 60
	l, s := newCoarseLab(t, plane)
	s.search.Maximizer.Candidates, s.search.Maximizer.Searches = 10, 1
	var all []protocol.Density
	for i := range 1000 {
		all = append(all, l.place(0.001*float64(i), i+1))
	}
	view := saying(l.view(nil, nil), all...)
	sum, different := 0.0, map[int]bool{}
	for trial := range uint64(trials) {
		got := ask(t, s, view, trial+1, random.SeedOf(1))
		if got.Why.PeerCount != maxPeers {
			t.Fatalf("why: %+v", got.Why)
		}
		sum += float64(got.Why.Observations) / maxPeers / trials
		different[got.Why.Observations] = true
	}
	if again := ask(t, s, view, 1, random.SeedOf(1)); !reflect.DeepEqual(again, ask(t, s, view, 1, random.SeedOf(1))) {
		t.Error("the same trial has two suggestions")
	}
	if len(different) < trials/2 {
		t.Errorf("%d trials listen to peers with %d numbers of observations", trials, len(different))
	}
	if math.Abs(sum-500.5) > 4*289/math.Sqrt(trials*maxPeers) {
		t.Errorf("those counted have %g observations on average, all have 500.5", sum)
	}
}

func TestCoarseRegistration(t *testing.T) {
	spec := parseKeys(t, plane, "initial_designs: 3")
	r := Register()
	s, err := r.NewStrategy(spec)
	if err != nil {
		t.Fatal(err)
	}
	if !s.(strategy.SharesFromStart).UsesSharesFromStart() {
		t.Error("a newcomer does not wait for the first shares")
	}
	key := fbotest.Key(t, 1)
	exchanges, err := r.Disclosure(spec).Exchanges(strategy.Env{Task: spec, Key: key})
	if err != nil || len(exchanges) != 1 || exchanges[0].Name() != protocol.DensityKind {
		t.Fatalf("exchanges %v, %v", exchanges, err)
	}
	l, _ := newCoarseLab(t, plane)
	payload, err := l.place(0.3, 5).Encode(spec.Space)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exchanges[0].Decode(payload); err != nil {
		t.Errorf("a place: %v", err)
	}
	if forged, err := r.Disclosure(spec).Forge(spec, protocol.DensityKind, payload, strategy.Forgery{Rand: random.SeedOf(1).Stream("forge", 0)}); err != nil {
		t.Error(err)
	} else if _, err := exchanges[0].Decode(forged); err != nil {
		t.Errorf("a forged place: %v", err)
	}
	mean := newLab(t, "maximize", plane, exact)
	if _, err := exchanges[0].Decode(encode(t, mean.peersOf(1, 5, bump(0.3), 1)[0])); err == nil {
		t.Error("takes a mean for a place")
	}
	if _, err := NewSharing(mean.task).Decode(payload); err == nil {
		t.Error("takes a place for a mean")
	}
	if r.Disclosure(spec).Reveals(spec) != coarsen.Reveals(spec.Space) || r.Disclosure(mean.task).Reveals(mean.task) == coarsen.Reveals(mean.task.Space) {
		t.Error("what is said of what shares reveal is not of the kind of shares")
	}
	if exchanges, err := r.Disclosure(mean.task).Exchanges(strategy.Env{Task: mean.task, Key: key}); err != nil || len(exchanges) != 2 || exchanges[0].Name() != protocol.MeanKind || exchanges[1].Name() != protocol.DensityKind {
		t.Errorf("with exact shares the exchanges are %v, %v", exchanges, err)
	}
}

// The default is coarse, and a canonical form has the same ID as its file.
func TestDefaultShare(t *testing.T) {
	coarseTask, exactTask := parseKeys(t, plane, "share: coarse"), parseKeys(t, plane, "share: exact")
	if silent := parseKeys(t, plane, "initial_designs: 3"); !silent.ID().Equals(coarseTask.ID()) || silent.ID().Equals(exactTask.ID()) {
		t.Error("the default is not coarse")
	}
	for name, spec := range map[string]*task.Task{"coarse": coarseTask, "exact": exactTask} {
		canonical, err := strategy.Set{Register()}.Parse("test", spec.Canonical())
		if err != nil || !canonical.ID().Equals(spec.ID()) {
			t.Errorf("%s: the canonical form has ID %v, %v; expected %v", name, canonical.ID(), err, spec.ID())
		}
	}
}

func TestShareIsOneOfFour(t *testing.T) {
	_, err := strategy.Set{Register()}.Parse("test", []byte("name: a\ngoal: minimize\nparameters: ["+plane+"]\nstrategy: {type: peer-prior, share: best}\n"))
	if err == nil || !strings.Contains(err.Error(), `strategy: share must be one of coarse, exact, results, sum, not the text "best"`) {
		t.Errorf("%v", err)
	}
}
