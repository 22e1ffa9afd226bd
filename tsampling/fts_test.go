package tsampling

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

const (
	floats = "{name: x, type: float, low: 0, high: 1}"
	coins  = "{name: side, type: categorical, choices: [heads, tails]}"
)

func newTask(t testing.TB, parameters, strategyKeys string) *task.Task {
	t.Helper()
	return strategytest.Task(t, strategy.Set{RegisterFTS(), alone.RegisterTS()}, "name: test\ngoal: maximize\nparameters: [%s]\nsurrogate: {type: rff, features: 8}\nstrategy: {%s}\n", parameters, strategyKeys)
}

func newFTS(t testing.TB, spec *task.Task) *FTS {
	t.Helper()
	features, err := surrogate.SharedMap(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := NewFTS(spec, features)
	s.search.Maximizer.Candidates, s.search.Maximizer.Searches = 4, 1 // where the maximum is does not matter here
	return s
}

// hill is a function with one maximum.
type hill float64

func (h hill) Value(x []float64) float64 { return -(x[0] - float64(h)) * (x[0] - float64(h)) }
func (h hill) Gradient(grad, x []float64) float64 {
	clear(grad)
	grad[0] = -2 * (x[0] - float64(h))
	return h.Value(x)
}

// posterior draws hills anywhere.
type posterior struct{}

func (posterior) Predict([]float64) (mean, variance float64)                 { return 0, 1 }
func (posterior) PredictGradient(_, _, _ []float64) (mean, variance float64) { return 0, 1 }
func (posterior) Draw(rng *rand.Rand) surrogate.Function                     { return hill(rng.Float64()) }
func (posterior) Weights(context.Context, *rand.Rand) ([]float64, error) {
	return make([]float64, 8), nil
}
func (p posterior) WeightDraw(ctx context.Context, rng *rand.Rand) ([]float64, error) {
	return p.Weights(ctx, rng)
}
func (posterior) Mean() (level float64, weights []float64)         { return 0, make([]float64, 8) }
func (posterior) DetailedMean() (level float64, weights []float64) { return 0, make([]float64, 8) }
func (posterior) Explained() (average float64, weights []float64)  { return 0, make([]float64, 8) }
func (posterior) Hyperparameters() surrogate.Hyperparameters       { return surrogate.Hyperparameters{} }

// A summit is the same in every draw.
type summit struct {
	posterior
	at float64
}

func (s summit) Draw(*rand.Rand) surrogate.Function { return hill(s.at) }

func peerID(i int) peer.ID { return peer.ID(fmt.Sprintf("peer %02d", i)) }

func drawOf(author peer.ID, sequence uint64) *strategy.Share {
	return &strategy.Share{
		Share: protocol.Share{Key: protocol.Key{Author: author, Kind: protocol.WeightsKind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: sequence}},
		Value: protocol.Weights{Observations: 9, Values: []float64{1, 0, 0, 0, 0, 0, 0, 0}},
	}
}

// viewOf shows n peers, all present, each with a draw.
func viewOf(spec *task.Task, n int) strategy.View {
	view := strategy.View{Task: spec, Self: "me", Observations: 3, Posterior: posterior{}}
	there := []peer.ID{"me"}
	for i := range n {
		view.Shares = append(view.Shares, drawOf(peerID(i), 1))
		there = append(there, peerID(i))
	}
	slices.Sort(there)
	view.Results = map[string]any{presence.Kind: presence.Result{Present: there, Agreed: true}}
	return view
}

func suggest(t testing.TB, s strategy.Strategy, view strategy.View, trial uint64, seed random.Seed) strategy.Suggestion {
	t.Helper()
	got, err := s.Suggest(t.Context(), view, trial, seed)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.Suggest(t.Context(), view, trial, seed); err != nil || !again.Design.Equal(got.Design) || again.Why.String() != got.Why.String() {
		t.Fatalf("asked twice: %+v and %+v, %v", got, again, err)
	}
	if got.Wait.Exchange != "" {
		t.Fatalf("waits for %s", got.Wait.Exchange)
	}
	return got
}

func TestScheduleProbabilities(t *testing.T) {
	for _, c := range []struct {
		schedule Schedule
		t        uint64
		want     float64
	}{
		{Schedule{Name: InverseSqrt}, 1, 1 - 1/math.Sqrt2},
		{Schedule{Name: InverseSqrt}, 2, 1 - 1/math.Sqrt2},
		{Schedule{Name: InverseSqrt}, 4, 0.5},
		{Schedule{Name: InverseSqrt}, 100, 0.9},
		{Schedule{Name: Inverse}, 1, 0},
		{Schedule{Name: Inverse}, 2, 0.5},
		{Schedule{Name: Inverse}, 10, 0.9},
		{Schedule{Name: InverseSquare}, 1, 0.75},
		{Schedule{Name: InverseSquare}, 2, 0.75},
		{Schedule{Name: InverseSquare}, 10, 0.99},
		{Schedule{Name: Constant, OwnProbability: 0.3}, 1, 0.3},
		{Schedule{Name: Constant, OwnProbability: 0.3}, 1000, 0.3},
		{Schedule{Name: OwnOnly}, 1, 1},
		{Schedule{Name: OwnOnly}, 1000, 1},
	} {
		if got := c.schedule.Own(c.t); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s, t = %d: %v, want %v", c.schedule, c.t, got, c.want)
		}
	}
	for _, name := range []string{InverseSqrt, InverseSquare} {
		schedule, last, peers := Schedule{Name: name}, 0.0, 0.0
		for i := uint64(1); i < 5000; i++ {
			p := schedule.Own(i)
			if p < last || p < 0 || p > 1 {
				t.Fatalf("%s, t = %d: %v after %v", schedule, i, p, last)
			}
			if last = p; i <= 50 {
				peers += 1 - p
			}
		}
		// Of 50 queries so many are expected to follow peers (t = 2 twice,
		// since p_1 = p_2).
		want := map[string]float64{InverseSqrt: 12.46, InverseSquare: 0.875}[name]
		if math.Abs(peers-want) > 0.01 {
			t.Errorf("%s: %.3f of 50 queries follow peers, want %.3f", schedule, peers, want)
		}
		if p := schedule.Own(math.MaxUint64); p < last || p > 1 {
			t.Errorf("%s, in the end: %v", schedule, p)
		}
	}
}

// The share of queries that follow the own sample, over 4000 seeds, must lie
// within 4.5 standard errors of p_t; that fails a right program once in 15,000
// seeds for the 10 comparisons, and notices a p_t that is wrong by 0.05 with
// more than 97 %.
func TestHowOftenTheOwnSampleIsFollowed(t *testing.T) {
	const seeds = 4000
	for _, keys := range []string{"type: fts", "type: fts, schedule: inverse-square", "type: fts, schedule: constant, own_probability: 0.25"} {
		spec := newTask(t, coins, keys+", initial_designs: 5")
		s, view := newFTS(t, spec), viewOf(spec, 3)
		for _, query := range []uint64{1, 2, 5, 30} {
			p := settingsOf(spec).Schedule.Own(query)
			own := 0
			for seed := range uint64(seeds) {
				got, err := s.Suggest(t.Context(), view, 5+query, random.SeedOf(seed))
				if err != nil {
					t.Fatal(err)
				}
				if got.Why.Source == strategy.Own {
					own++
				}
				if chance := got.Why.OwnProbability; chance == nil || *chance != p {
					t.Fatalf("%s, query %d: the reason is %+v, want the chance %v", keys, query, got.Why, p)
				}
			}
			if deviation := (float64(own)/seeds - p) / math.Sqrt(p*(1-p)/seeds); math.Abs(deviation) > 4.5 {
				t.Errorf("%s, query %d: %.4f own, want %.4f (%.1f standard errors)", keys, query, float64(own)/seeds, p, deviation)
			}
		}
	}
}

// Chi-square over 7 peers and 7000 queries with 6 degrees of freedom: 22.5 is
// passed with probability 0.001. Were one peer twice as likely as the others,
// the statistic would be about 660.
func TestPeersAreChosenUniformly(t *testing.T) {
	const peers, queries = 7, 7000
	spec := newTask(t, coins, "type: fts, schedule: constant, own_probability: 0, initial_designs: 1")
	s, view := newFTS(t, spec), viewOf(spec, peers)
	counts := map[peer.ID]float64{}
	for seed := range uint64(queries) {
		got, err := s.Suggest(t.Context(), view, 2+seed%50, random.SeedOf(seed))
		if err != nil {
			t.Fatal(err)
		}
		counts[got.Why.Peer]++
	}
	statistic := 0.0
	for i := range peers {
		expected := float64(queries) / peers
		statistic += (counts[peerID(i)] - expected) * (counts[peerID(i)] - expected) / expected
	}
	if len(counts) != peers || statistic > 22.5 {
		t.Errorf("chi-square %.1f over %v", statistic, counts)
	}
}

func TestWhyIsRecorded(t *testing.T) {
	spec := newTask(t, floats, "type: fts, schedule: constant, own_probability: 0, initial_designs: 2")
	s, view := newFTS(t, spec), viewOf(spec, 1)
	if got := suggest(t, s, view, 2, random.SeedOf(1)); got.Why != (strategy.Why{Source: strategy.Initial}) {
		t.Errorf("start: %+v", got.Why)
	}
	why := suggest(t, s, view, 3, random.SeedOf(1)).Why
	if why.Source != "peer" || why.Peer != peerID(0) || why.Observations != 9 || *why.Stamp != view.Shares[0].Stamp {
		t.Errorf("peer: %+v", why)
	}
	view.Shares = nil
	if why := suggest(t, s, view, 3, random.SeedOf(1)).Why; !reflect.DeepEqual(why, strategy.Why{Source: strategy.Own, OwnProbability: new(0.0)}) {
		t.Errorf("own: %+v", why)
	}
}

// The draw of a peer is maximised in the direction in which larger is better,
// whatever the task's goal: draws are of outputs that are better when larger.
func TestAPeersDrawIsMaximised(t *testing.T) {
	spec := newTask(t, "{name: n, type: int, low: 0, high: 40}", "type: fts, schedule: constant, own_probability: 0, initial_designs: 1")
	s, view := newFTS(t, spec), viewOf(spec, 1)
	values := []float64{0.3, -1, 0.5, 0.2, 1, 0.1, -0.4, 0.6}
	view.Shares[0].Value = protocol.Weights{Observations: 4, Values: values}
	f := s.features.Function(values)
	got := suggest(t, s, view, 5, random.SeedOf(1)).Design
	best := f.Value(spec.Space.Encode(got))
	for n := range int64(41) {
		other, err := spec.Space.NewDesign(task.IntValue(n))
		if err != nil {
			t.Fatal(err)
		}
		if v := f.Value(spec.Space.Encode(other)); v > best {
			t.Errorf("the draw is %v at %v and %v at the suggested %v", v, other, best, got)
		}
	}
}

// follows tells whose draw a query with own chance 0 would follow.
func follows(t testing.TB, keys string, change func(*strategy.View)) peer.ID {
	t.Helper()
	spec := newTask(t, floats, keys+", schedule: constant, own_probability: 0, initial_designs: 1")
	view := viewOf(spec, 1)
	change(&view)
	return suggest(t, newFTS(t, spec), view, 9, random.SeedOf(3)).Why.Peer
}

// used adds a trial that has consumed a draw of peer 0.
func used(view *strategy.View, state strategy.State, source strategy.Source, sequence uint64) {
	view.Trials = append(view.Trials, strategy.Trial{
		ID: uint64(len(view.Trials)) + 1, State: state, Outcome: &strategy.Outcome{},
		Design: view.Task.Space.Decode(make([]float64, view.Task.Space.Dim())),
		Why:    strategy.Why{Source: source, Peer: peerID(0), Stamp: &protocol.Stamp{Epoch: 1, Sequence: sequence}},
	})
}

func TestWhichDrawsCount(t *testing.T) {
	const concurrent, oneShot = "type: fts", "type: fts, mode: one-shot"
	absent := func(view *strategy.View) {
		view.Results = map[string]any{presence.Kind: presence.Result{Present: []peer.ID{"me"}, Agreed: true}}
	}
	for _, c := range []struct {
		name   string
		keys   string
		change func(*strategy.View)
		counts bool
	}{
		{"new", concurrent, func(*strategy.View) {}, true},
		{"used", concurrent, func(v *strategy.View) { used(v, strategy.Done, "peer", 1) }, false},
		{"used by a trial that runs", concurrent, func(v *strategy.View) { used(v, strategy.Running, "peer", 1) }, false},
		{"used by a trial that failed", concurrent, func(v *strategy.View) { used(v, strategy.Failed, "peer", 1) }, false},
		{"used for a random design", concurrent, func(v *strategy.View) { used(v, strategy.Done, "random", 1) }, false},
		{"used long ago", concurrent, func(v *strategy.View) {
			used(v, strategy.Done, "peer", 1)
			used(v, strategy.Done, "peer", 2)
		}, false},
		{"the one after a used one", concurrent, func(v *strategy.View) {
			used(v, strategy.Done, "peer", 1)
			v.Shares[0].Stamp.Sequence = 2
		}, true},
		{"of a peer that is absent", concurrent, absent, false},
		{"presence not known yet", concurrent, func(v *strategy.View) { v.Results = nil }, false},
		{"of another kind", concurrent, func(v *strategy.View) { v.Shares[0].Value = protocol.Presence{} }, false},
		{"no share at all", concurrent, func(v *strategy.View) { v.Shares = nil }, false},

		{"one-shot: new", oneShot, func(*strategy.View) {}, true},
		{"one-shot: of a peer that is absent", oneShot, absent, true},
		{"one-shot: used", oneShot, func(v *strategy.View) { used(v, strategy.Done, "peer", 1) }, false},
		{"one-shot: another one of the same peer", oneShot, func(v *strategy.View) {
			used(v, strategy.Done, "peer", 1)
			v.Shares[0].Stamp.Sequence = 2
		}, false},
	} {
		if got := follows(t, c.keys, c.change); (got != "") != c.counts {
			t.Errorf("%s: follows %q", c.name, got)
		}
	}
}

// Peers that have nothing weigh zero: the others share what they would have.
func TestStragglersWeighZero(t *testing.T) {
	spec := newTask(t, coins, "type: fts, schedule: constant, own_probability: 0.5, initial_designs: 1")
	s, view := newFTS(t, spec), viewOf(spec, 3)
	used(&view, strategy.Done, "peer", 1) // peer 0 has sent nothing since
	own := 0
	for seed := range uint64(2000) {
		why := suggest(t, s, view, 7, random.SeedOf(seed)).Why
		switch {
		case why.Peer == "":
			own++
		case why.Peer == peerID(0):
			t.Fatal("a used draw is followed")
		}
	}
	if own < 890 || own > 1110 { // 1000 and 5 standard errors
		t.Errorf("%d of 2000 queries follow the own sample: the straggler's part went to it", own)
	}
}

// With no peer in sight, with own-only, and on its own branch, the strategy is
// plain Thompson sampling.
func TestTheOwnBranchIsThompsonSampling(t *testing.T) {
	for name, keys := range map[string]string{"own-only": "type: fts, schedule: own-only", "mixed": "type: fts"} {
		spec := newTask(t, floats, keys+", initial_designs: 2")
		s := newFTS(t, spec)
		plain := alone.NewTS(spec)
		for trial := uint64(1); trial < 60; trial++ {
			view := viewOf(spec, 3)
			got := suggest(t, s, view, trial, random.SeedOf(7))
			if got.Why.Source == "peer" {
				if name == "own-only" {
					t.Fatalf("%s, trial %d follows a peer", name, trial)
				}
				view.Shares = nil
				got = suggest(t, s, view, trial, random.SeedOf(7))
			}
			if want := suggest(t, plain, view, trial, random.SeedOf(7)); !got.Design.Equal(want.Design) {
				t.Errorf("%s, trial %d: %v, plain Thompson sampling has %v", name, trial, got.Design, want.Design)
			}
		}
	}
}

func TestARepeatedMaximiserGivesTheNextBestDesign(t *testing.T) {
	spec := newTask(t, "{name: n, type: int, low: 0, high: 99}", "type: fts, initial_designs: 1")
	s, view := newFTS(t, spec), viewOf(spec, 1)
	view.Posterior, view.Shares = summit{at: 1}, nil
	first := suggest(t, s, view, 2, random.SeedOf(2)).Design
	for _, state := range []strategy.State{strategy.Running, strategy.Done, strategy.Failed} {
		view.Trials = []strategy.Trial{{ID: 1, Design: first, State: state, Outcome: &strategy.Outcome{}}}
		for seed := range uint64(20) {
			got := suggest(t, s, view, 2, random.SeedOf(seed))
			off := first.Int("n") - got.Design.Int("n")
			if off < 2 || off > 50 || got.Why.Source != strategy.Own || got.Why.NextBest != 1 || got.Why.Peer != "" {
				t.Fatalf("%s: %v, %+v", state, got.Design, got.Why)
			}
		}
	}
	// A peer's draw that led nowhere new is used up all the same.
	view = viewOf(spec, 1)
	s.settings.Schedule = Schedule{Name: Constant}
	f := suggest(t, s, view, 2, random.SeedOf(1)).Design
	view.Trials = []strategy.Trial{{ID: 1, Design: f, State: strategy.Done, Outcome: &strategy.Outcome{}}}
	got := suggest(t, s, view, 2, random.SeedOf(1))
	if why := got.Why; got.Design.Equal(f) || why.Source != "peer" || why.NextBest != 1 || why.Peer != peerID(0) || why.Stamp == nil {
		t.Errorf("a peer's repeated maximiser: %+v", why)
	}
}

func TestExhaustedSpacesAreLeft(t *testing.T) {
	spec := newTask(t, coins, "type: fts, initial_designs: 3")
	s, view := newFTS(t, spec), viewOf(spec, 1)
	heads, tails := spec.Space.Decode([]float64{1, 0}), spec.Space.Decode([]float64{0, 1})
	outcome := &strategy.Outcome{}
	trials := func(first, second strategy.State) {
		view.Trials = []strategy.Trial{{ID: 1, Design: heads, State: first, Outcome: outcome}, {ID: 2, Design: tails, State: second, Outcome: outcome}}
	}
	trials(strategy.Done, strategy.Done)
	for trial := uint64(3); trial < 30; trial++ {
		if suggest(t, s, view, trial, random.SeedOf(1)).Design.IsZero() {
			t.Fatalf("trial %d has no design", trial)
		}
	}
	trials(strategy.Done, strategy.Failed)
	for trial := uint64(3); trial < 30; trial++ {
		if got := suggest(t, s, view, trial, random.SeedOf(1)); got.Design.Equal(tails) {
			t.Fatalf("trial %d: the failed design (%s)", trial, got.Why)
		}
	}
	trials(strategy.Failed, strategy.Failed)
	view.Posterior = nil
	if got, err := s.Suggest(t.Context(), view, 3, random.SeedOf(1)); err == nil {
		t.Errorf("all have failed: %+v", got)
	}
}

// Without an own observation there is nothing to weigh a peer against: the
// strategy goes on at random.
func TestWithoutPosteriorTheStartGoesOn(t *testing.T) {
	spec := newTask(t, floats, "type: fts, initial_designs: 1")
	s, view := newFTS(t, spec), viewOf(spec, 2)
	view.Posterior = nil
	if got := suggest(t, s, view, 9, random.SeedOf(1)); got.Why.Source != strategy.Initial {
		t.Errorf("%+v", got.Why)
	}
}
