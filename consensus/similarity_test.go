package consensus

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
)

// flat is a posterior by which f at the first of two points, the own candidate, is
// standard normal and at the second normal with this mean and deviation, independently.
type flat struct {
	surrogate.JointPosterior
	mean, sd float64
}

func (f flat) Joint([][]float64) surrogate.Joint { return pair{mean: f.mean, sd: f.sd} }

type pair struct {
	surrogate.Joint
	mean, sd float64
}

func (p pair) Mean() []float64 { return []float64{0, p.mean} }

func (p pair) Covariance() *mat.SymDense { return mat.NewSymDense(2, []float64{1, 0, 0, p.sd * p.sd}) }

// By hand: the gain halfway is normal with deviation √(1+sd²).
func TestSimilarityByHand(t *testing.T) {
	space := newTask(t, "").Space
	own, candidates := at(0.2, 0.05, 0).Point.Encoded(space), []PeerCandidate{{Peer: members(2)[1], Candidate: at(0.8, 0.05, 0)}}
	for _, c := range []struct {
		mean, sd     float64
		observations int
		want         float64
	}{
		{0, 1, 100, 1}, // P = 1/2
		{5, 1, 100, 1}, // better: no more than equal
		{-math.Sqrt2, 1, 1, 2 * 0.15865525393145707},            // one deviation worse
		{-math.Sqrt2, 1, 9, math.Pow(2*0.15865525393145707, 3)}, // the same, with more evidence
		{-2, math.Sqrt(3), 4, math.Pow(2*0.15865525393145707, 2)},
	} {
		view := strategy.View{Posterior: flat{mean: c.mean, sd: c.sd}, Observations: c.observations}
		if got := similarities(space, view, own, candidates); len(got) != 1 || math.Abs(got[0]-c.want) > tolerance {
			t.Errorf("mean %g, deviation %g, %d observations: %v, want %g", c.mean, c.sd, c.observations, got, c.want)
		}
	}
}

// observed is the view of an agent that has measured f at these places of x.
func observed(t *testing.T, f func(x float64) float64, places ...float64) strategy.View {
	t.Helper()
	definition := newTask(t, ", weights: similarity")
	model, err := surrogate.New(definition)
	if err != nil {
		t.Fatal(err)
	}
	var o surrogate.Observations
	for _, x := range places {
		o.X = append(o.X, at(x, 0.05, 0).Point.Encoded(definition.Space))
		o.Y = append(o.Y, f(x))
	}
	lengthscales := []float64{0.15, 1, 1}
	posterior, err := model.Condition(o, surrogate.Hyperparameters{Lengthscales: lengthscales, Noise: 1e-4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return strategy.View{Task: definition, Self: members(3)[0], Posterior: posterior, Observations: len(places)}
}

// between is a round of three agents in which the own candidate is at 0.2 and the others' are
// at a and b.
func between(a, b float64) Round {
	own, ids := at(0.2, 0.05, 0), members(3)
	return Round{Number: 1, Own: &own, Present: ids, Candidates: []PeerCandidate{
		{Peer: ids[1], Candidate: at(a, 0.05, 0)}, {Peer: ids[2], Candidate: at(b, 0.05, 0)},
	}}
}

// hills has two of the same height, at 0.2 and 0.8.
func hills(x float64) float64 { return math.Pow(math.Cos(math.Pi*(x-0.2)/0.6), 2) }

// A candidate on the same hill keeps its weight, one on another of the same height loses it
// with the agent's evidence of the valley between.
func TestAValleyBetweenCandidatesIsSeen(t *testing.T) {
	settings := Settings{Weights: weightsSimilarity, Rounds: 10}
	round, last := between(0.2, 0.8), 1.0
	for _, places := range [][]float64{{0.2}, {0.2, 0.45}, {0.2, 0.45, 0.5}, {0, 0.2, 0.45, 0.5, 0.55, 0.8, 1}} {
		w := round.Weights(observed(t, hills, places...), settings)
		same, other, own := w[members(3)[1]], w[members(3)[2]], w[members(3)[0]]
		if math.Abs(same-own) > tolerance || math.Abs(same+own+other-1) > tolerance {
			t.Errorf("%v: the same design weighs %g, own %g, the other hill %g", places, same, own, other)
		}
		if other > last {
			t.Errorf("%v: the other hill weighs %g, more than %g before", places, other, last)
		}
		last = other
	}
	if last > 0.01 {
		t.Errorf("the other hill weighs %g in the end", last)
	}
	x := round.averager(newTask(t, "").Space, observed(t, hills, 0, 0.2, 0.45, 0.5, 0.55, 0.8, 1), settings).average(newTask(t, "").Space)
	if math.Abs(x[0]-0.2) > 0.01 {
		t.Errorf("the average is at %g, in the valley", x[0])
	}
}

// The own candidate weighs no less than any other, and so at least 1/K, whatever is said and seen.
func TestSimilarityIsBounded(t *testing.T) {
	views := []strategy.View{observed(t, hills, 0.2), observed(t, hills, 0, 0.3, 0.5, 0.9), observed(t, func(x float64) float64 { return -x }, 0.1, 0.8)}
	rapid.Check(t, func(t *rapid.T) {
		view := rapid.SampledFrom(views).Draw(t, "view")
		place := func(name string) float64 { return rapid.Float64Range(0, 1).Draw(t, name) }
		round := between(place("a"), place("b"))
		round.Number = rapid.IntRange(1, 10).Draw(t, "round")
		round.Candidates[0].Age = rapid.IntRange(0, 5).Draw(t, "age")
		own := at(place("own"), place("n"), rapid.IntRange(0, 2).Draw(t, "choice"))
		round.Own = &own
		w := round.Weights(view, Settings{Weights: weightsSimilarity, Rounds: 10})
		a, b, self := w[members(3)[1]], w[members(3)[2]], w[members(3)[0]]
		if math.IsNaN(a+b) || min(a, b) < 0 || max(a, b) > self+tolerance || a > 0.5/float64(1+round.Candidates[0].Age)+tolerance {
			t.Fatalf("weights %g and %g of peers, own %g", a, b, self)
		}
	})
}

// What cannot say how values go together lets the agent go its own way.
func TestWithoutAJointPosteriorTheOwnCandidateIsTaken(t *testing.T) {
	view := observed(t, hills, 0.2)
	alone := view
	alone.Posterior = struct{ surrogate.Posterior }{view.Posterior}
	for name, v := range map[string]strategy.View{"not joint": alone, "none": {Task: view.Task, Self: view.Self}} {
		round := between(0.2, 0.3)
		c := round.averager(view.Task.Space, v, Settings{Weights: weightsSimilarity, Rounds: 10})
		if x := c.average(view.Task.Space); !slices.Equal(x, round.Own.Point.Encoded(view.Task.Space)) {
			t.Errorf("%s: %v", name, x)
		}
	}
}
