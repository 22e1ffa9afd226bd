package peerprior

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
)

// newSumLab returns a lab of a task with share: sum and a roster of five nodes.
func newSumLab(t testing.TB, parameters string) *lab {
	t.Helper()
	var roster []string
	for i := range 5 {
		id, err := peer.IDFromPublicKey(fbotest.Key(t, i).GetPublic())
		if err != nil {
			t.Fatal(err)
		}
		roster = append(roster, id.String())
	}
	l := &lab{t: t, task: parseKeys(t, parameters, "share: sum, initial_designs: 3, roster: ["+strings.Join(roster, ", ")+"]")}
	made, err := strategy.Set{Register()}.Of(l.task)
	if err != nil {
		t.Fatal(err)
	}
	s, err := made.NewStrategy(l.task)
	if err != nil {
		t.Fatal(err)
	}
	l.strategy = s.(*Strategy)
	return l
}

// sum returns the sum of a round in which peers contribute count observations each of f, whose values
// are divided by scale.
func (l *lab) sum(round, peers, count int, f func([]float64) float64) sums.Sum {
	l.t.Helper()
	c := sums.NewCells(l.task)
	s := sums.Sum{Round: round, Contributors: peers, Observations: peers * count, Values: make([]float64, c.Numbers())}
	for _, x := range l.designs(peers*count, random.SeedOf(uint64(1000+round))) {
		c.Add(s.Values, x, min(max(f(x), -sums.MaxOutput), sums.MaxOutput))
	}
	return s
}

func received(view strategy.View, all ...sums.Sum) strategy.View {
	view.Results = map[string]any{sums.Kind: sums.Result{Sums: all}}
	return view
}

// Without sums, and with sums that no honest members can make, the designs are those of a node alone.
func TestWithoutSumsIsAlone(t *testing.T) {
	l := newSumLab(t, plane)
	change := func(by func(s *sums.Sum)) sums.Sum {
		s := l.sum(1, 4, 4, bump(0.7))
		s.Values = slices.Clone(s.Values)
		by(&s)
		return s
	}
	m := len(sums.NewCells(l.task).Centres())
	bad := map[string]sums.Sum{
		"too long":            change(func(s *sums.Sum) { s.Values = append(s.Values, 0) }),
		"a negative count":    change(func(s *sums.Sum) { s.Values[0], s.Values[1] = s.Values[0]+s.Values[1]+1, -1 }),
		"part of a count":     change(func(s *sums.Sum) { s.Values[0] += 0.5; s.Values[1] -= 0.5 }),
		"too many":            change(func(s *sums.Sum) { s.Values[0]++ }),
		"too large an output": change(func(s *sums.Sum) { s.Values[m] = sums.MaxOutput*s.Values[0] + 1 }),
		"not a number":        change(func(s *sums.Sum) { s.Values[m] = math.NaN() }),
		"no contributor":      change(func(s *sums.Sum) { s.Contributors = 0 }),
	}
	for count := range 6 {
		view := l.view(l.designs(count, random.SeedOf(7)), bump(0.3))
		trial, seed := uint64(count+1), random.SeedOf(uint64(count))
		want := l.suggestAlone(view, trial, seed)
		if got := l.suggest(view, trial, seed); !reflect.DeepEqual(got, want) {
			t.Errorf("trial %d: %+v, alone %+v", trial, got, want)
		}
		for name, s := range bad {
			if got := l.suggest(received(view, s), trial, seed); !reflect.DeepEqual(got, want) {
				t.Errorf("trial %d, %s: %+v, alone %+v", trial, name, got, want)
			}
		}
	}
}

// The average of the cells reproduces the shape of the peers' objective, and is more certain where
// peers have observations.
func TestSumsReproduceTheObjective(t *testing.T) {
	l := newSumLab(t, plane)
	f := func(x []float64) float64 { return 2*math.Sin(4*x[0]) + math.Cos(3*x[1]) }
	a := sums.NewCells(l.task).Averages([]sums.Sum{l.sum(1, 4, 10, f), l.sum(2, 4, 10, f)})
	if a.Each != 20 || a.Contributors != 4 {
		t.Errorf("%d observations of each of %d, expected 20 of each of 4", a.Each, a.Contributors)
	}
	p, err := posterior(a, l.strategy.spec, l.strategy.hyperparameters(strategy.View{}))
	if err != nil {
		t.Fatal(err)
	}
	var got, want []float64
	rng := random.SeedOf(3).Stream("points", 0)
	for range 300 {
		x := acquisition.Sample(l.task.Space, rng)
		got, want = append(got, p.Mean(x)), append(want, f(x))
	}
	g, gg := moments(got)
	w, ww := moments(want)
	correlation := 0.0
	for i := range got {
		correlation += (got[i] - g) * (want[i] - w) / math.Sqrt(gg*ww) / float64(len(got))
	}
	t.Logf("correlation %.3f", correlation)
	if correlation < 0.9 {
		t.Errorf("the correlation with the objective is %.3f, expected at least 0.9", correlation)
	}
	one := sums.NewCells(l.task).Averages([]sums.Sum{l.sum(1, 4, 1, f)})
	if p, err = posterior(one, l.strategy.spec, l.strategy.hyperparameters(strategy.View{})); err != nil {
		t.Fatal(err)
	}
	_, near := p.Predict(one.Centres[0])
	farthest := 0.0
	for _, x := range sums.NewCells(l.task).Centres() {
		_, variance := p.Predict(x)
		farthest = max(farthest, variance)
	}
	many := one
	many.Counts = slices.Repeat([]float64{50}, len(one.Counts))
	if p, err = posterior(many, l.strategy.spec, l.strategy.hyperparameters(strategy.View{})); err != nil {
		t.Fatal(err)
	}
	if _, nearer := p.Predict(many.Centres[0]); !(nearer < near/2) {
		t.Errorf("variance %.3f in a cell with 50 observations, %.3f with one", nearer, near)
	}
	if !(near < farthest/2) {
		t.Errorf("variance %.3f at observations and at most %.3f elsewhere", near, farthest)
	}
}

// checkSumsHelp compares the distance of suggestions from the optimum, alone and with the sums of
// four similar peers, over this number of agents with four observations. The difference is 0.2 with a standard
// deviation of 0.25, so with 12 agents a test at level 0.025 has a power of 0.8; the check is that the
// mean distance halves. Sums of the contrary may not double it after 15 observations.
func checkSums(t *testing.T, agents int) {
	l := newSumLab(t, plane)
	f := bump(0.7)
	distance := func(observations int, all ...sums.Sum) (mean float64) {
		for i := range agents {
			seed := random.SeedOf(uint64(100 + i))
			view := l.view(l.designs(observations, seed), f)
			got := l.suggest(received(view, all...), uint64(observations+1), seed).Design
			mean += math.Hypot(got.Float("x")-0.7, got.Float("y")-0.7) / float64(agents)
		}
		return mean
	}
	// Outputs of peers have mean 0 and deviation 1, about.
	outputs := func(sign float64) func([]float64) float64 {
		return func(x []float64) float64 { return sign * (4*f(x) - 1) }
	}
	apart, together := distance(4), distance(4, l.sum(1, 4, 3, outputs(1)), l.sum(2, 4, 3, outputs(1)))
	t.Logf("distance to the optimum after 4 observations: %.3g alone, %.3g with sums", apart, together)
	if !(together < apart/2) {
		t.Errorf("the suggestions with sums are %.3g from the optimum, without %.3g; expected half", together, apart)
	}
	apart, together = distance(15), distance(15, l.sum(1, 4, 4, outputs(-1)), l.sum(2, 4, 4, outputs(-1)))
	t.Logf("distance after 15 observations: %.3g alone, %.3g with sums of the contrary", apart, together)
	if !(together < 2*apart+0.05) {
		t.Errorf("suggestions are %.3g from the optimum with sums of the contrary, %.3g without", together, apart)
	}
}

func TestSumsOfSimilarPeersHelp(t *testing.T) { checkSums(t, 12) }

// A sum within the limits that contradicts own results loses its weight, however large it is.
func TestPoisonedSumsLoseWeight(t *testing.T) {
	l := newSumLab(t, plane)
	f := bump(0.7)
	poison := l.sum(1, 4, 25, func(x []float64) float64 {
		if f(x) > 0.2 {
			return -sums.MaxOutput
		}
		return sums.MaxOutput
	})
	weight := func(observations int) float64 {
		return average(func(seed uint64) float64 {
			return l.considered(received(l.view(l.designs(observations, random.SeedOf(seed)), f), poison)).peerOdds
		})
	}
	early, late := weight(1), weight(15)
	t.Logf("weight of the experts with peers: %.3g after 1 observation, %.3g after 15", early, late)
	if !(late < early-0.15) {
		t.Errorf("a poisoned sum has weight %.3g after 15 own observations, %.3g after one", late, early)
	}
	huge := l.sum(1, 4, 10000, f)
	if a := sums.NewCells(l.task).Averages([]sums.Sum{huge}); slices.Max(a.Outputs) > sums.MaxOutput {
		t.Error("an average exceeds the largest output")
	}
	design := l.suggest(received(l.view(l.designs(4, random.SeedOf(5)), f), huge), 5, random.SeedOf(5)).Design
	if s := fmt.Sprint(design); strings.Contains(s, "NaN") {
		t.Error(s)
	}
}
