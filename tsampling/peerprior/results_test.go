package peerprior

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/exchange/results"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// newResultsLab returns a lab of a task with share: results, without the exact strategy.
func newResultsLab(t testing.TB, parameters, more string) (*lab, *ResultsStrategy) {
	t.Helper()
	l := &lab{t: t, task: parseKeys(t, parameters, "share: results, initial_designs: 3"+more)}
	made, err := strategy.Set{Register()}.Of(l.task)
	if err != nil {
		t.Fatal(err)
	}
	s, err := made.NewStrategy(l.task)
	if err != nil {
		t.Fatal(err)
	}
	return l, s.(*ResultsStrategy)
}

// sent is the decoded share of a peer with these results.
func (l *lab) sent(i int, r protocol.Results) *strategy.Share {
	l.t.Helper()
	payload, err := r.Encode(l.task.Space, l.task.Constraints)
	if err != nil {
		l.t.Fatal(err)
	}
	value, err := results.NewSharing(l.task).Decode(payload)
	if err != nil {
		l.t.Fatal(err)
	}
	return &strategy.Share{
		Share: protocol.Share{Key: protocol.Key{Author: peerID(i), Kind: protocol.ResultsKind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: 1}},
		Value: value,
	}
}

// evaluated returns the results of f at random designs.
func (l *lab) evaluated(count int, seed uint64, f func([]float64) float64) protocol.Results {
	r := protocol.Results{Observations: count}
	for _, x := range l.designs(count, random.SeedOf(seed)) {
		r.Results = append(r.Results, protocol.Result{Point: protocol.PointAt(l.task.Space, x), Value: f(x)})
	}
	return r
}

// Without peers, and with peers without a usable result, the designs are those of a node alone.
func TestResultsWithoutPeersAreAlone(t *testing.T) {
	for _, parameters := range []string{plane, mixed} {
		l, s := newResultsLab(t, parameters, "")
		failed := l.evaluated(4, 1, bump(0.3))
		for i := range failed.Results {
			failed.Results[i].Failed, failed.Results[i].Value = true, 0
		}
		equal := l.evaluated(4, 2, func([]float64) float64 { return 3 })
		for count := range 7 {
			view := l.view(l.designs(count, random.SeedOf(7)), bump(0.3))
			trial, seed := uint64(count+1), random.SeedOf(uint64(count))
			want := l.suggestAlone(view, trial, seed)
			if got := ask(t, s, view, trial, seed); !reflect.DeepEqual(got, want) {
				t.Errorf("trial %d: %+v, alone %+v", trial, got, want)
			}
			view.Shares = []*strategy.Share{l.sent(0, failed), l.sent(1, equal)}
			if got := ask(t, s, view, trial, seed); !reflect.DeepEqual(got, want) {
				t.Errorf("trial %d, with peers that have nothing: %+v, alone %+v", trial, got, want)
			}
		}
	}
}

// Of ten nodes with three observations and peers of the same function, in other units and at another
// level, the next design is better on average than alone, as is the recommendation.
func TestResultsOfSimilarPeersHelp(t *testing.T) {
	l, s := newResultsLab(t, plane, "")
	f := bump(0.7)
	peers := []*strategy.Share{l.sent(0, l.evaluated(20, 91, f)), l.sent(1, l.evaluated(20, 92, func(x []float64) float64 { return 40 + 1e3*f(x) }))}
	with, without, recommended := 0.0, 0.0, 0.0
	for seed := range uint64(10) {
		view := l.view(l.designs(3, random.SeedOf(seed)), f)
		without += f(l.task.Space.Encode(l.suggestAlone(view, 4, random.SeedOf(seed)).Design)) / 10
		view.Shares = peers
		got := ask(t, s, view, 4, random.SeedOf(seed))
		if got.Why.Source != Source || got.Why.PeerCount != 2 || got.Why.Observations != 40 || got.Forecast == nil {
			t.Errorf("seed %d: %+v", seed, got)
		}
		with += f(l.task.Space.Encode(got.Design)) / 10
		recommended += f(l.task.Space.Encode(s.Recommend(t.Context(), view, random.SeedOf(seed)))) / 10
	}
	if with < without+0.2 || recommended < 0.8 {
		t.Errorf("designs have the average %.2f with peers and %.2f alone; recommendations %.2f", with, without, recommended)
	}
}

// A newcomer's first designs are near the peers' best, without starting designs.
func TestNewcomerUsesResults(t *testing.T) {
	l, s := newResultsLab(t, plane, "")
	view := l.view(nil, bump(0.7))
	view.Shares = []*strategy.Share{l.sent(0, l.evaluated(30, 91, bump(0.7)))}
	got := ask(t, s, view, 1, random.SeedOf(1))
	if value := bump(0.7)(l.task.Space.Encode(got.Design)); value < 0.9 {
		t.Errorf("the first design has the value %.2f", value)
	}
	view.Shares = []*strategy.Share{l.sent(0, l.evaluated(3, 91, bump(0.7)))}
	if got, want := ask(t, s, view, 1, random.SeedOf(1)), l.suggestAlone(view, 1, random.SeedOf(1)); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v with a peer that is no further, alone %+v", got, want)
	}
}

// The weight of the model with peers follows from recorded gains by Bayes' rule, and part of it is
// redistributed after each outcome.
func TestWeightFollowsRecordedGains(t *testing.T) {
	const prior = priorWeight
	trial := func(weight, ratio float64) strategy.Trial {
		gain := math.Log(1 - weight + weight*ratio)
		return strategy.Trial{State: strategy.Done, PeerGain: &gain, Why: strategy.Why{OwnProbability: new(1 - weight)}}
	}
	bayes := func(weight, ratio float64) float64 { return weight * ratio / (weight*ratio + 1 - weight) }
	after1 := bayes(prior, 3)/2 + prior/2
	after2 := bayes(after1, 0.1)*2/3 + prior/3
	for name, c := range map[string]struct {
		trials []strategy.Trial
		want   float64
	}{
		"nothing":              {nil, prior},
		"no forecast":          {[]strategy.Trial{{State: strategy.Done}}, prior},
		"one":                  {[]strategy.Trial{trial(0.7, 3)}, after1},
		"another weight then":  {[]strategy.Trial{trial(0.2, 3)}, after1},
		"two":                  {[]strategy.Trial{trial(0.7, 3), trial(0.5, 0.1)}, after2},
		"bounded":              {[]strategy.Trial{trial(0.7, 1e9)}, bayes(prior, maxEvidence)/2 + prior/2},
		"a certainty":          {[]strategy.Trial{trial(0.7, 0)}, bayes(prior, 1/maxEvidence)/2 + prior/2},
		"a forecast and fails": {[]strategy.Trial{{State: strategy.Failed}, trial(0.7, 3)}, after1},
	} {
		if got := peerOdds(strategy.View{Trials: c.trials}); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: weight %g, want %g", name, got, c.want)
		}
	}
}

// A peer that repeats the node's own results, and adds a false optimum, has no influence on the weight:
// it has predicted nothing. The forecast is made before the outcome, by both models.
func TestForecastsOfResults(t *testing.T) {
	l, s := newResultsLab(t, plane, "")
	total := 0.0
	for seed := range uint64(10) {
		view := l.view(l.designs(4, random.SeedOf(seed)), bump(0.7))
		view.Shares = []*strategy.Share{l.sent(0, l.evaluated(25, 91, bump(0.7)))}
		got := ask(t, s, view, 5, random.SeedOf(seed))
		sum := 0.0
		for _, c := range got.Forecast.With {
			sum += c.Weight
		}
		gain, ok := got.Forecast.Gain(bump(0.7)(l.task.Space.Encode(got.Design)))
		if math.Abs(sum-1) > 1e-12 || !ok {
			t.Errorf("weights %g, gain %g", sum, gain)
		}
		total += gain / 10
	}
	if total < 0.1 {
		t.Errorf("peers with the same objective gain %g nats on average", total)
	}
	view := l.view(l.designs(4, random.SeedOf(1)), bump(0.7))
	before := peerOdds(view)
	view.Shares = []*strategy.Share{l.sent(0, l.evaluated(4, 1, bump(0.7)))}
	if after := peerOdds(view); after != before {
		t.Errorf("weight %g with a copy of the own results, %g before", after, before)
	}
}

// Whatever peers within the decoder's bounds publish, a suggestion is a design of the space.
func TestSuggestWithstandsHostileResults(t *testing.T) {
	l, s := newResultsLab(t, mixed, "")
	corner := func(values func(i int) float64) protocol.Results {
		r := l.evaluated(50, 3, bump(0.3))
		for i := range r.Results {
			r.Results[i].Point, r.Results[i].Value = r.Results[0].Point, values(i)
		}
		return r
	}
	change := func(values func(i int, v float64) float64) protocol.Results {
		r := l.evaluated(50, 3, bump(0.3))
		for i := range r.Results {
			r.Results[i].Value = values(i, r.Results[i].Value)
		}
		return r
	}
	many := l.evaluated(protocol.MaxResults, 4, bump(0.3))
	many.Observations = math.MaxInt32
	for name, r := range map[string]protocol.Results{
		"huge":        change(func(int, float64) float64 { return protocol.MaxUnit }),
		"both huge":   change(func(i int, _ float64) float64 { return protocol.MaxUnit * float64(1-i%2*2) }),
		"one is huge": change(func(i int, v float64) float64 { return v + protocol.MaxUnit*float64(i/49) }),
		"tiny":        change(func(_ int, v float64) float64 { return v * 1e-300 }),
		"negated":     change(func(_ int, v float64) float64 { return -v }),
		"a corner":    corner(func(i int) float64 { return float64(i) }),
		"alternating": corner(func(i int) float64 { return protocol.MaxUnit * float64(1-i%2*2) }),
		"many":        many,
	} {
		for _, count := range []int{0, 1, 4, 9} {
			view := l.view(l.designs(count, random.SeedOf(2)), bump(0.7))
			view.Shares = []*strategy.Share{l.sent(0, r), l.sent(1, r)}
			got := ask(t, s, view, uint64(count+1), random.SeedOf(2))
			l.checkInSpace(got.Design)
			if weights, err := s.PeerWeights(view); err != nil || len(weights) > 2 {
				t.Errorf("%s: %v, %v", name, weights, err)
			}
		}
	}
}

// The weights for display separate a similar peer from others.
func TestPeerWeightsOfResults(t *testing.T) {
	l, s := newResultsLab(t, plane, "")
	view := l.view(l.designs(12, random.SeedOf(1)), bump(0.7))
	if weights, err := s.PeerWeights(view); weights != nil || err != nil {
		t.Errorf("without peers: %v, %v", weights, err)
	}
	view.Shares = []*strategy.Share{l.sent(0, l.evaluated(20, 91, bump(0.7))), l.sent(1, l.evaluated(20, 92, func(x []float64) float64 { return math.Sin(31*x[0]) * math.Cos(37*x[1]) }))}
	weights, err := s.PeerWeights(view)
	if err != nil || len(weights) != 2 || weights[0].Peer != peerID(0) || weights[0].Received != 20 {
		t.Fatalf("%+v, %v", weights, err)
	}
	if weights[0].Use < 0.9 || weights[1].Use > 0.5 {
		t.Errorf("%+v", weights)
	}
}

// Pending designs are not suggested again, and constraints are respected.
func TestResultsWithPendingDesignsAndConstraints(t *testing.T) {
	l, s := newResultsLab(t, plane, "")
	view := l.view(l.designs(5, random.SeedOf(1)), bump(0.2))
	view.Shares = []*strategy.Share{l.sent(0, l.evaluated(20, 91, bump(0.2)))}
	first := ask(t, s, view, 6, random.SeedOf(1))
	pending := view
	pending.Trials = append(pending.Trials[:5:5], strategy.Trial{ID: 6, Design: first.Design, State: strategy.Running})
	if second := ask(t, s, pending, 7, random.SeedOf(1)); second.Design.Equal(first.Design) {
		t.Errorf("%v is suggested again", first.Design)
	}

	view.Shares, view = nil, l.view(l.designs(15, random.SeedOf(1)), bump(0.2))
	constrained, limited := strategytest.Constrain(t, view, 0.6, 0.5, 0.5) // the first coordinate is at least 0.6
	limited.Shares = pending.Shares
	design := ask(t, NewResults(constrained), limited, 16, random.SeedOf(1)).Design
	if x := constrained.Space.Encode(design); x[0] < 0.5 {
		t.Errorf("the design %v violates the constraint", design)
	}
}

// A suggestion uses the results of a bounded number of peers, and others in another trial.
func TestNumberOfPeersIsBounded(t *testing.T) {
	l, s := newResultsLab(t, plane, "")
	view := l.view(l.designs(4, random.SeedOf(1)), bump(0.7))
	for i := range 3 * maxResultPeers {
		view.Shares = append(view.Shares, l.sent(i, l.evaluated(5, uint64(i), bump(0.7))))
	}
	one, other := s.results(view, 5, random.SeedOf(1)), s.results(view, 6, random.SeedOf(1))
	if len(one.data) != maxResultPeers || one.authors[0].Share == other.authors[0].Share {
		t.Errorf("%d peers, the first %v and %v", len(one.data), one.authors[0].Share.Author, other.authors[0].Share.Author)
	}
	if got := ask(t, s, view, 5, random.SeedOf(1)); got.Why.PeerCount != maxResultPeers {
		t.Errorf("%d peers", got.Why.PeerCount)
	}
}

func TestResultsInTaskFiles(t *testing.T) {
	text := func(keys string) string {
		return "name: a\ngoal: minimize\nparameters: [" + plane + "]\n" + keys
	}
	parsed, err := strategy.Set{Register()}.Parse("test", []byte(text("strategy: {type: peer-prior, share: results, share_every: 5}\n")))
	if err != nil {
		t.Fatal(err)
	}
	of, err := strategy.Set{Register()}.Of(parsed)
	if err != nil {
		t.Fatal(err)
	}
	if summary := of.Summary(parsed); !strings.Contains(summary, "a share holds up to 200 results, and comes after every 5 observations") {
		t.Error(summary)
	}
	if reveals := of.Disclosure(parsed).Reveals(parsed); !strings.Contains(reveals, "all results of this node") {
		t.Error(reveals)
	}
	for keys, want := range map[string]string{
		"strategy: {type: peer-prior, share: exact, share_every: 5}\n":                                                      "share_every applies only with share: results",
		"strategy: {type: peer-prior, share: results}\nprivacy: {mechanism: local, epsilon: 4, delta: 1e-5, releases: 3}\n": "privacy",
	} {
		if _, err := (strategy.Set{Register()}).Parse("test", []byte(text(keys))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", keys, err, want)
		}
	}
	var _ task.StrategySettings = parsed.Strategy.Settings
}

// BenchmarkSuggestWithResults measures a suggestion with 60 own results and 50 peers with 200 each.
func BenchmarkSuggestWithResults(b *testing.B) {
	l, s := newResultsLab(b, mixed, "")
	view := l.view(l.designs(60, random.SeedOf(1)), bump(0.7))
	for i := range maxResultPeers {
		view.Shares = append(view.Shares, l.sent(i, l.evaluated(protocol.MaxResults, uint64(i), bump(0.7))))
	}
	for b.Loop() {
		ask(b, s, view, 62, random.SeedOf(1))
	}
}
