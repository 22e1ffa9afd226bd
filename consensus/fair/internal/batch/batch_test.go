package batch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
)

func TestWeightsOfEachRule(t *testing.T) {
	for name, c := range map[string]struct{ got, want Weights }{
		"exponential": {Exponential(3, 0.5), Weights{1, 0.5, 0.25}},
		"alike":       {Exponential(3, 1), Weights{1, 1, 1}},
		"Gini's":      {Linear(3, 2), Weights{5, 3, 1}},
		"linear, 0":   {Linear(3, 0), Weights{1, 1, 1}},
		"normalised":  {Weights{6, 3, 1}.Normalised(), Weights{0.6, 0.3, 0.1}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

// The figures are those of S21, section 3.3.
func TestWelfareWithGiniWeights(t *testing.T) {
	for want, u := range map[float64][]float64{20: {5, 5}, 14: {8, 2}} {
		if got := Linear(2, 2).Welfare(u); got != want {
			t.Errorf("W(%v) = %g, want %g", u, got, want)
		}
	}
}

func TestExplorationScheduleValues(t *testing.T) {
	w := Weights{1, 0.5}
	for name, c := range map[string]struct {
		e    Exploration
		t    int
		want float64
	}{
		"fixed":         {Exploration{C1: 0.1, C2: 2}, 3, 0.1 * 4 * 1.25 * math.Log(6)},
		"varying":       {Exploration{C1: 0.1, C2: 2, Varying: true}, 3, 0.1 * 4 * 2.25 / 2 * math.Log(6)},
		"negative":      {Exploration{C1: 0.1, C2: 0.5}, 1, 0},
		"still varying": {Exploration{C1: 0.1, C2: 2, Varying: true}, 3, 0.1 * 4 * 2.25 / 2 * math.Log(6)}, // no memory
	} {
		if got := c.e.Alpha(w, 4, c.t); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
	e := Exploration{C1: 0.1, C2: 2, Varying: true}
	for _, rho := range []float64{0.2, 0.7} { // exploration over exploitation is that of equal weights
		w := Exponential(3, rho)
		if got, want := math.Sqrt(e.Alpha(w, 4, 9))/w.sum(), math.Sqrt(e.Alpha(Exponential(3, 1), 4, 9))/3; math.Abs(got-want) > 1e-12 {
			t.Errorf("ρ = %g: %g, want %g", rho, got, want)
		}
	}
}

func drawWeights(rt *rapid.T, n int) Weights {
	if rapid.Bool().Draw(rt, "linear") {
		return Linear(n, rapid.Float64Range(0.01, 5).Draw(rt, "rho"))
	}
	return Exponential(n, rapid.Float64Range(0.2, 0.99).Draw(rt, "rho"))
}

func drawUtilities(rt *rapid.T, n int) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-10, 10), n, n).Draw(rt, "utilities")
}

// A transfer from who has more to who has less, by no more than their difference,
// never lowers the welfare (Pigou and Dalton), and the same to all, or more to one, raises it.
func TestWelfareIsFair(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(rt, "parties")
		w, u := drawWeights(rt, n), drawUtilities(rt, n)
		before := w.Welfare(u)
		i, j := rapid.IntRange(0, n-1).Draw(rt, "giver"), rapid.IntRange(0, n-1).Draw(rt, "taker")
		if u[i] < u[j] {
			i, j = j, i
		}
		moved := slices.Clone(u)
		gift := rapid.Float64Range(0, 1).Draw(rt, "part") * (u[i] - u[j])
		moved[i] -= gift
		moved[j] += gift
		if after := w.Welfare(moved); after < before-1e-9 {
			rt.Fatalf("%v has %g, and after a gift of %g, %v has %g", u, before, gift, moved, after)
		}
		more := slices.Clone(u)
		more[i] += 0.5
		if after := w.Welfare(more); after < before+0.5*w[n-1]-1e-9 {
			rt.Fatalf("%v has %g, but %v has %g", u, before, more, after)
		}
	})
}

// With the smallest ρ of a task the welfare orders utilities as leximin does, if they differ by more
// than a five-hundredth of their range (S21, proposition 1: the limit of ρ → 0). With ρ = 1 it does
// not.
func TestWelfareTendsToLeximin(t *testing.T) {
	agree := func(rho float64, u, v []float64) bool {
		w := Exponential(len(u), rho)
		leximin := slices.Compare(slices.Sorted(slices.Values(u)), slices.Sorted(slices.Values(v)))
		return leximin == 0 || (w.Welfare(u) < w.Welfare(v)) == (leximin < 0)
	}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(rt, "parties")
		hundredths := rapid.SliceOfN(rapid.IntRange(0, 500), n, n)
		utilities := func(name string) (u []float64) {
			for _, h := range hundredths.Draw(rt, name) {
				u = append(u, float64(h)/100)
			}
			return u
		}
		if u, v := utilities("u"), utilities("v"); !agree(0.001, u, v) {
			rt.Fatalf("%v and %v are in another order", u, v)
		}
	})
	if agree(1, []float64{1, 1}, []float64{0, 3}) {
		t.Error("the sum orders as leximin does")
	}
}

// permutations calls do with every order of 0 to n-1.
func permutations(n int, do func(order []int)) {
	order := make([]int, n)
	var place func(k int)
	place = func(k int) {
		if k == n {
			do(order)
			return
		}
		for i := range n {
			if !slices.Contains(order[:k], i) {
				order[k] = i
				place(k + 1)
			}
		}
	}
	place(0)
}

// No assignment of designs is worth more than that of S21, appendix B.2.
func TestPairingIsBest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(rt, "parties")
		p := Problem{Weights: drawWeights(rt, n), Gains: drawUtilities(rt, n), Rule: rapid.SampledFrom([]Rule{Fair, Instant}).Draw(rt, "rule")}
		means := rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n).Draw(rt, "means")
		got, best := newUtility(p, true).of(means, nil), math.Inf(-1)
		held := newUtility(p, false)
		permutations(n, func(order []int) {
			moved := make([]float64, n)
			for i, k := range order {
				moved[i] = means[k]
			}
			best = max(best, held.of(moved, nil))
		})
		if math.Abs(got-best) > 1e-9 {
			rt.Fatalf("paired %g, the best of all assignments %g", got, best)
		}
	})
}

// Where totals lie apart smoothing changes nothing; elsewhere it takes no more than it
// says; and the shares are the slopes.
func TestSmoothUtility(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(rt, "parties")
		p := Problem{Weights: drawWeights(rt, n), Gains: drawUtilities(rt, n), Rule: Fair}
		means := rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n).Draw(rt, "means")
		u, sharp := newUtility(p, false), newUtility(p, false)
		u.smoothing = rapid.Float64Range(1e-3, 3).Draw(rt, "smoothing")
		slopes, moved := make([]float64, n), slices.Clone(means)
		got, want := u.of(means, slopes), sharp.of(means, nil)
		most := u.smoothing / 2 * (p.Weights.squares() - p.Weights.sum()*p.Weights.sum()/float64(n))
		if got > want+1e-9 || got < want-most-1e-9 {
			rt.Fatalf("smooth %g, sharp %g, and they may differ by %g", got, want, most)
		}
		total := 0.0
		for i, slope := range slopes {
			total += slope
			const step = 1e-5
			moved[i] = means[i] + step
			up := u.of(moved, nil)
			moved[i] = means[i] - step
			// A kink in the slope inside the step moves the difference by step/ε.
			if difference := (up - u.of(moved, nil)) / (2 * step); math.Abs(difference-slope) > 1e-6+2*step/u.smoothing {
				rt.Fatalf("slope %g, by differences %g", slope, difference)
			}
			moved[i] = means[i]
		}
		if math.Abs(total-p.Weights.sum()) > 1e-9 {
			rt.Fatalf("shares %v come to %g, the weights to %g", slopes, total, p.Weights.sum())
		}
		for i := range means { // far apart
			means[i] = 1e4 * float64((2*i+1)%7)
		}
		if got, want := u.of(means, nil), sharp.of(means, nil); got != want {
			rt.Fatalf("far apart: smooth %g, sharp %g", got, want)
		}
	})
}

// world is a space with a posterior on it.
type world struct {
	space     *task.Space
	posterior surrogate.JointPosterior
	observed  surrogate.Observations
	noise     float64
}

func newWorld(t testing.TB, kind string, observed int, parameters ...task.Parameter) world {
	t.Helper()
	space, err := task.NewSpace(parameters)
	if err != nil {
		t.Fatal(err)
	}
	model, err := surrogate.New(&task.Task{Name: "test", Goal: task.Maximize, Space: space,
		Surrogate: task.Surrogate{Type: kind, Kernel: "matern52", Features: 100, Lengthscale: 0.4, CategoryLengthscale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	w := world{space: space, noise: 0.02}
	rng := random.SeedOf(1).Stream("world", 0)
	for range observed {
		x := acquisition.Sample(space, rng)
		w.observed.X = append(w.observed.X, x)
		w.observed.Y = append(w.observed.Y, rough(x))
	}
	h := surrogate.Hyperparameters{Noise: w.noise}
	for range parameters {
		if kind == "exact" {
			h.Lengthscales = append(h.Lengthscales, 0.4)
		}
	}
	posterior, err := model.Condition(w.observed, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.posterior = posterior.(surrogate.JointPosterior)
	return w
}

func rough(x []float64) (sum float64) {
	for i, u := range x {
		sum += math.Sin(7*u+float64(i)) - (u-0.6)*(u-0.6)
	}
	return sum
}

func floats(n int) (parameters []task.Parameter) {
	for i := range n {
		parameters = append(parameters, task.Parameter{Name: fmt.Sprintf("x%d", i), Kind: task.Float, Low: 0, High: 1})
	}
	return parameters
}

func mixed() []task.Parameter {
	return append(floats(2),
		task.Parameter{Name: "n", Kind: task.Int, Low: 1, High: 9},
		task.Parameter{Name: "c", Kind: task.Categorical, Choices: []string{"p", "q", "r"}},
	)
}

func (w world) problem(n int, rho float64, rule Rule) Problem {
	p := Problem{Space: w.space, Posterior: w.posterior, Noise: w.noise, Weights: Exponential(n, rho), Alpha: 0.8, Rule: rule}
	rng := random.SeedOf(2).Stream("gains", 0)
	for range n {
		p.Gains = append(p.Gains, 0.7*rng.NormFloat64())
	}
	return p
}

func (w world) designs(n int, seed uint64) (x [][]float64) {
	rng := random.SeedOf(seed).Stream("designs", 0)
	for range n {
		x = append(x, acquisition.Sample(w.space, rng))
	}
	return x
}

func stream(n uint64) *rand.Rand { return random.SeedOf(3).Stream("batch", n) }

func maximise(t testing.TB, p Problem, seed uint64) Batch {
	t.Helper()
	b, err := p.Maximise(t.Context(), stream(seed))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The value is what its definition says, by a determinant that is no Cholesky factor's.
func TestBatchValueEqualsItsDefinition(t *testing.T) {
	w := newWorld(t, "exact", 12, floats(3)...)
	x := w.designs(4, 1)
	joint := w.posterior.Joint(x)
	a, means := mat.NewDense(4, 4, nil), joint.Mean()
	a.Scale(1/w.noise, joint.Covariance())
	for i := range 4 {
		a.Set(i, i, a.At(i, i)+1)
	}
	var lu mat.LU
	lu.Factorize(a)
	logDet, _ := lu.LogDet()
	for _, rule := range []Rule{Fair, Instant, TwoStep} {
		p := w.problem(4, 0.5, rule)
		p.Gains = []float64{0.3, -1, 2, 0}
		want := math.Sqrt(p.Alpha * logDet / 2)
		switch rule {
		case Fair:
			u := []float64{0.3 + means[0], -1 + means[1], 2 + means[2], means[3]}
			slices.Sort(u)
			want += u[0] + u[1]/2 + u[2]/4 + u[3]/8
		case Instant:
			want += means[1] + means[3]/2 + means[0]/4 + means[2]/8
		case TwoStep:
			want += means[0] + means[1] + means[2] + means[3]
		}
		if got := p.Value(x); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g, want %g", rule, got, want)
		}
	}
}

// The gradients of a whole batch and of one design of it are those by differences, and
// both functions, and those of a pool, have the same value.
func TestBatchValueGradients(t *testing.T) {
	for _, kind := range []string{"exact", "rff"} {
		for _, n := range []int{1, 4, 9} { // from 8 designs on the posterior solves for all at once
			w := newWorld(t, kind, 12, floats(3)...)
			for _, rule := range []Rule{Fair, Instant, TwoStep} {
				o := &objective{problem: w.problem(n, 0.6, rule), utility: newUtility(w.problem(n, 0.6, rule), true)}
				o.utility.smoothing = 0.1
				x := slices.Concat(w.designs(n, 5)...)
				check := func(what string, f acquisition.Function, x []float64, value float64) {
					t.Run(fmt.Sprintf("%s/%s/n=%d/%s", kind, rule, n, what), func(t *testing.T) {
						grad := make([]float64, len(x))
						if got := f.Gradient(grad, x); math.Abs(got-value) > 1e-9 || math.Abs(f.Value(x)-value) > 1e-9 {
							t.Errorf("values %g and %g, want %g", got, f.Value(x), value)
						}
						fbotest.CheckGradient(t, grad, x, f.Value, 1e-5)
					})
				}
				value := o.Value(x)
				check("all", o, x, value)
				b, ok := newBlock(o, o.split(x), n-1)
				if !ok {
					t.Fatal("no block")
				}
				check("one", b, o.split(x)[n-1], value)

				pool, err := newPool(t.Context(), w.posterior, append(w.designs(3, 6), o.split(x)...))
				if err != nil {
					t.Fatal(err)
				}
				batch := make([]int, n)
				for i := range batch {
					batch[i] = 3 + i
				}
				if values, ok := pool.values(o, batch, n-1, pool.all()); !ok || math.Abs(values[2+n]-value) > 1e-9 {
					t.Errorf("%s, %s, n=%d: value %v in the pool, want %g", kind, rule, n, values, value)
				}
			}
		}
	}
}

func TestMaximise(t *testing.T) { checkMaximise(t, []string{"exact"}, 1, 3) }

// checkMaximise maximises the value of batches with each surrogate and each number of parties. A
// batch is valid and no worse than any assignment of it and than many random ones. Equal designs
// are allowed, the gains are not changed, and the same stream gives the same batch.
func checkMaximise(t *testing.T, surrogates []string, parties ...int) {
	for name, parameters := range map[string][]task.Parameter{
		"floats": floats(2),
		"mixed":  mixed(),
		"finite": mixed()[2:],
	} {
		for _, kind := range surrogates {
			for _, rule := range []Rule{Fair, Instant, TwoStep} {
				for _, n := range parties {
					t.Run(fmt.Sprintf("%s/%s/%s/%d", name, kind, rule, n), func(t *testing.T) {
						w := newWorld(t, kind, 12, parameters...)
						p := w.problem(n, 0.6, rule)
						p.Near = w.observed.X[:2]
						before := fmt.Sprint(p.Gains, p.Near, p.Weights)
						b := maximise(t, p, 0)
						if fmt.Sprint(p.Gains, p.Near, p.Weights) != before {
							t.Error("the problem was altered")
						}
						if len(b.Designs) != n || b.Value != p.Value(b.Designs) {
							t.Fatalf("%d designs of value %g, want %d of %g", len(b.Designs), b.Value, n, p.Value(b.Designs))
						}
						for _, x := range b.Designs {
							snapped := slices.Clone(x)
							w.space.Snap(snapped)
							if !slices.Equal(x, snapped) {
								t.Errorf("%v is no design", x)
							}
						}
						for seed := range uint64(200) {
							if v := p.Value(w.designs(n, 10+seed)); v > b.Value {
								t.Fatalf("random designs have %g, the batch %g", v, b.Value)
							}
						}
						if again := maximise(t, p, 0); fmt.Sprint(again) != fmt.Sprint(b) {
							t.Errorf("%v, and again %v", b, again)
						}
					})
				}
			}
		}
	}
}

// Who has gained less gets the larger mean where that counts.
func TestWhoHasLeastIsServedFirst(t *testing.T) {
	w := newWorld(t, "exact", 12, floats(2)...)
	for _, rule := range []Rule{Fair, Instant, TwoStep} {
		p := w.problem(3, 0.5, rule)
		p.Alpha = 20
		p.Gains = []float64{0, -1, 1}
		means := w.posterior.Joint(maximise(t, p, 0).Designs).Mean()
		if !(means[1] >= means[0] && means[0] >= means[2]) || means[1] == means[2] {
			t.Errorf("%s: means %v for gains %v", rule, means, p.Gains)
		}
	}
}

// With equal weights what parties have gained is as nothing, down to the last digit.
func TestEqualWeightsIgnoreGains(t *testing.T) {
	w := newWorld(t, "exact", 12, floats(2)...)
	p, q := w.problem(3, 1, Fair), w.problem(3, 1, Fair)
	q.Gains = []float64{-3, 1e6, 0}
	if a, b := maximise(t, p, 0).Designs, maximise(t, q, 0).Designs; fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%v with gains %v, %v with %v", a, p.Gains, b, q.Gains)
	}
	// It is then the choice of the two-step rule before its second step.
	two := w.problem(3, 0.5, TwoStep)
	a, b := maximise(t, p, 0), maximise(t, two, 0)
	sum := p.Gains[0] + p.Gains[1] + p.Gains[2]
	if math.Abs(a.Value-sum-b.Value) > 1e-9 {
		t.Errorf("equal weights come to %g, the two-step rule to %g", a.Value-sum, b.Value)
	}
}

// With equal weights no party gets a design for its place in the search: each of three is
// the first party's in one of 30 streams, which fails a right program once in 60,000 seeds.
func TestEqualWeightsPreferNobody(t *testing.T) {
	w := newWorld(t, "exact", 12, floats(2)...)
	p := w.problem(3, 1, Fair)
	first := map[float64]int{}
	for seed := range uint64(30) {
		first[p.paired(w.designs(3, 7), stream(seed))[0][0]]++
	}
	if len(first) != 3 {
		t.Errorf("the designs of the first party: %v", first)
	}
}

// With one party the batch is the design of largest mean + √(½α ln(1+s²/σ²)).
func TestBatchOfOnePartyIsUCB(t *testing.T) {
	w := newWorld(t, "exact", 12, floats(2)...)
	for _, alpha := range []float64{0, 0.1, 1, 10} {
		p := w.problem(1, 0.5, Fair)
		p.Alpha = alpha
		best := math.Inf(-1)
		for i := range 201 { // a grid, refined around the result
			for j := range 201 {
				mean, variance := w.posterior.Predict([]float64{float64(i) / 200, float64(j) / 200})
				best = max(best, mean+math.Sqrt(alpha/2*math.Log1p(variance/w.noise)))
			}
		}
		b := maximise(t, p, 0)
		mean, variance := w.posterior.Predict(b.Designs[0])
		got := mean + math.Sqrt(alpha/2*math.Log1p(variance/w.noise))
		if math.Abs(got+p.Gains[0]-b.Value) > 1e-9 || got < best {
			t.Errorf("α = %g: value %g, the score there %g, the best of a grid %g", alpha, b.Value-p.Gains[0], got, best)
		}
	}
}

// With nothing to explore all parties get the best design, which is allowed.
func TestEqualDesigns(t *testing.T) {
	w := newWorld(t, "exact", 12, floats(2)...)
	p := w.problem(4, 0.5, Fair)
	p.Alpha = 0
	b := maximise(t, p, 0)
	for _, x := range b.Designs[1:] {
		if distance(x, b.Designs[0]) > 1e-3 {
			t.Errorf("designs %v and %v, want the same", x, b.Designs[0])
		}
	}
	p.Alpha = 1
	equal := [][]float64{{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}}
	_, variance := w.posterior.Predict(equal[0])
	p.Rule = TwoStep
	mean, _ := w.posterior.Predict(equal[0])
	if got, want := p.Value(equal), 4*mean+math.Sqrt(math.Log1p(4*variance/w.noise)/2); math.Abs(got-want) > 1e-9 {
		t.Errorf("four equal designs are worth %g, want %g", got, want)
	}
}

// lists are, for each party, so many designs, some of which the next one has too.
func (w world) choices(counts ...int) (choices [][][]float64) {
	all, first := w.designs(60, 8), 0
	for _, count := range counts {
		choices = append(choices, all[first:first+count])
		first += count / 2
	}
	return choices
}

// bruteForce is the largest value of all batches of choices.
func bruteForce(p Problem) float64 {
	best := math.Inf(-1)
	batch := make([][]float64, len(p.Choices))
	var place func(party int)
	place = func(party int) {
		if party == len(batch) {
			best = max(best, p.Value(batch))
			return
		}
		for _, x := range p.Choices[party] {
			batch[party] = x
			place(party + 1)
		}
	}
	place(0)
	return best
}

// Of few batches of listed designs the best is found, whether or not the parties have
// the same; by search it is found too, in the cases here.
func TestMaximiseFindsBestOfFewListedBatches(t *testing.T) {
	w := newWorld(t, "exact", 12, mixed()...)
	for _, rule := range []Rule{Fair, Instant, TwoStep} {
		for name, choices := range map[string][][][]float64{
			"own":    w.choices(5, 1, 8, 4),
			"common": {w.designs(6, 9), w.designs(6, 9), w.designs(6, 9)},
			"one":    w.choices(20),
			"pair":   w.choices(2, 40),
		} {
			p := w.problem(len(choices), 0.5, rule)
			p.Choices = choices
			b, want := maximise(t, p, 0), bruteForce(p)
			if math.Abs(b.Value-want) > 1e-9 {
				t.Errorf("%s, %s: value %g, the best of all %g", rule, name, b.Value, want)
			}
			for party, x := range b.Designs {
				if !slices.ContainsFunc(choices[party], func(y []float64) bool { return slices.Equal(x, y) }) {
					t.Errorf("%s, %s: party %d gets %v, which is not its choice", rule, name, party, x)
				}
			}
			l := newLists(p)
			pool, err := newPool(t.Context(), p.Posterior, l.designs)
			if err != nil {
				t.Fatal(err)
			}
			o := &objective{problem: p, utility: newUtility(p, l.common)}
			if l.common != (name == "common" || name == "one") {
				t.Errorf("%s: common is %t", name, l.common)
			}
			var designs [][]float64
			for _, i := range pool.search(t.Context(), o, l.candidates, stream(1)) {
				designs = append(designs, pool.designs[i])
			}
			if l.common {
				designs = p.paired(designs, stream(1))
			}
			if got := p.Value(designs); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s, %s: value %g by search, the best of all %g", rule, name, got, want)
			}
		}
	}
}

// More batches than can be looked at: the result is a batch of choices, and no single
// change and no swap makes it better.
func TestMaximiseOfManyListedBatchesIsLocallyOptimal(t *testing.T) {
	w := newWorld(t, "exact", 12, floats(2)...)
	p := w.problem(6, 0.5, Fair)
	p.Choices = w.choices(14, 14, 14, 14, 14, 12)
	b := maximise(t, p, 0)
	for party, choices := range p.Choices {
		for _, x := range choices {
			changed := slices.Clone(b.Designs)
			changed[party] = x
			if v := p.Value(changed); v > b.Value+1e-9 {
				t.Errorf("party %d with %v makes %g of %g", party, x, v, b.Value)
			}
		}
	}
}

// Two parties who can evaluate each other's designs change them where that is better,
// which no change of one design can do.
func TestMaximiseSwapsDesignsBetweenParties(t *testing.T) {
	w := newWorld(t, "exact", 12, floats(2)...)
	x := w.designs(3, 4)
	slices.SortFunc(x, func(a, b []float64) int {
		first, _ := w.posterior.Predict(a)
		second, _ := w.posterior.Predict(b)
		return int(math.Copysign(1, first-second))
	})
	p := w.problem(3, 0.5, TwoStep)
	p.Gains = []float64{-1, 1, -2}
	p.Choices = [][][]float64{{x[0], x[2]}, {x[2], x[0]}, {x[1]}}
	p.Alpha = 1000 // all three are worth most
	b := maximise(t, p, 0)
	if !slices.Equal(b.Designs[0], x[2]) || !slices.Equal(b.Designs[1], x[0]) || !slices.Equal(b.Designs[2], x[1]) {
		t.Errorf("designs %v of %v", b.Designs, x)
	}
}

func TestContextEndsSearch(t *testing.T) {
	w := newWorld(t, "exact", 12, floats(2)...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	listed := w.problem(3, 0.5, Fair)
	listed.Choices = w.choices(10, 10, 10)
	for _, p := range []Problem{w.problem(3, 0.5, Fair), listed} {
		if _, err := p.Maximise(ctx, stream(0)); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
	}
}

func TestProblemValidateRefuses(t *testing.T) {
	w := newWorld(t, "exact", 12, floats(2)...)
	for want, change := range map[string]func(p *Problem){
		"no gains given":                func(p *Problem) { p.Gains = nil },
		"2 weights given":               func(p *Problem) { p.Weights = p.Weights[:2] },
		`rule "unfair": must be "fair"`: func(p *Problem) { p.Rule = "unfair" },
		"noise 0: must be positive":     func(p *Problem) { p.Noise = 0 },
		"alpha -1: must be":             func(p *Problem) { p.Alpha = -1 },
		"alpha NaN: must be":            func(p *Problem) { p.Alpha = math.NaN() },
		"gain NaN of party 1":           func(p *Problem) { p.Gains[1] = math.NaN() },
		"weight 2, number 1":            func(p *Problem) { p.Weights[1] = 2 },
		"weight 0, number 2":            func(p *Problem) { p.Weights[2] = 0 },
		"near design 0 has 1 coord":     func(p *Problem) { p.Near = [][]float64{{1}} },
		"choices of 2 parties":          func(p *Problem) { p.Choices = w.choices(2, 2) },
		"no choices of party 2":         func(p *Problem) { p.Choices = w.choices(2, 2, 0) },
		"choice 0 of party 0 has 1":     func(p *Problem) { p.Choices = [][][]float64{{{1}}, {{1}}, {{1}}} },
	} {
		p := w.problem(3, 0.5, Fair)
		change(&p)
		if _, err := p.Maximise(t.Context(), stream(0)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
