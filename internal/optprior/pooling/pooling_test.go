package pooling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const (
	plane = "{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}"
	mixed = plane + ", {name: n, type: int, low: 1, high: 9}, {name: c, type: categorical, choices: [red, green, blue]}"
)

func newTask(t testing.TB, parameters, rest string) *task.Task {
	t.Helper()
	parsed, err := task.Parse("test", fmt.Appendf(nil,
		"name: test\ngoal: minimize\nparameters: [%s]\nsurrogate: {features: 64}\n%s", parameters, rest), []task.StrategyType{{Name: "some", Constraints: true}})
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// normals returns the densities of count peers with random centres and these spreads or wider ones.
func normals(spec *task.Task, count int, narrowest float64, rng *rand.Rand) []acquisition.Function {
	var all []acquisition.Function
	for range count {
		spread := narrowest * math.Pow(protocol.MaxSpread/narrowest, rng.Float64())
		all = append(all, optprior.Around(optprior.NewLayout(spec.Space), spread, snapped(spec, rng)))
	}
	return all
}

func snapped(spec *task.Task, rng *rand.Rand) []float64 {
	x := acquisition.Sample(spec.Space, rng)
	spec.Space.Snap(x)
	return x
}

func randomWeights(rng *rand.Rand) (w Weights) {
	total := 0.0
	for r := range w {
		w[r] = rng.ExpFloat64()
		total += w[r]
	}
	for r := range w {
		w[r] /= total
	}
	return w
}

func TestBoundedLogDensityIsMonotonic(t *testing.T) {
	last := math.Inf(-1)
	for log := -50.0; log < 50; log += 0.37 {
		value, slope := Bounded(log)
		if !(value >= last) || !(value >= math.Log(UniformShare)) || !(value <= math.Log(Ceiling)) {
			t.Errorf("ln π = %g gives %g after %g", log, value, last)
		}
		last = value
		const step = 1e-5
		up, _ := Bounded(log + step)
		down, _ := Bounded(log - step)
		if want := (up - down) / (2 * step); math.Abs(slope-want) > 1e-6 {
			t.Errorf("ln π = %g: slope %g, want the difference %g", log, slope, want)
		}
	}
	if value, _ := Bounded(0); math.Abs(value) > 1e-12 {
		t.Errorf("a uniform density gives %g, want 0", value)
	}
	for log, want := range map[float64]float64{math.Inf(-1): math.Log(UniformShare), 1000: math.Log(Ceiling), math.Inf(1): math.Log(Ceiling)} {
		// At the lower end, π̂ is Cκ/(C-1+κ), which is above κ by less than 1/C of it.
		if value, slope := Bounded(log); !(math.Abs(value-want) <= 1/Ceiling) || slope != 0 && !(slope < 1e-9) {
			t.Errorf("ln π = %g gives %g, slope %g; want %g", log, value, slope, want)
		}
	}
	// An honest density hardly changes: a normal of spread 0.2 in the middle of two parameters has
	// π = 3.98.
	if value, _ := Bounded(math.Log(3.98)); math.Abs(value-math.Log(3.98)) > 0.1 {
		t.Errorf("ln 3.98 = %.3f became %.3f", math.Log(3.98), value)
	}
}

// Each rule has the value of its formula.
func TestRules(t *testing.T) {
	spec := newTask(t, mixed, "")
	rng := random.SeedOf(1).Stream("rules", 0)
	for n := 1; n <= 9; n += 2 {
		densities := normals(spec, n, 0.05, rng)
		x := acquisition.Sample(spec.Space, rng)
		total, average := 0.0, 0.0
		for _, d := range densities {
			log, _ := Bounded(d.Value(x))
			total += log
			average += math.Exp(log) / float64(n)
		}
		for r, want := range map[Rule]float64{
			Alone: 0, Arithmetic: math.Log(average), Geometric: total / float64(n), Between: total / math.Sqrt(float64(n)), Product: total,
		} {
			if got := New(densities, Only(r), 3).Value(x); math.Abs(got-3*want) > 1e-9*(1+math.Abs(got)) {
				t.Errorf("%d densities, rule %d: %g, want %g", n, r, got, 3*want)
			}
		}
	}
}

func TestGradientOfThePool(t *testing.T) {
	spec := newTask(t, mixed, "")
	rng := random.SeedOf(3).Stream("gradient", 0)
	for range 100 {
		p := New(normals(spec, 1+rng.IntN(5), 0.05, rng), randomWeights(rng), 0.7)
		x := acquisition.Sample(spec.Space, rng)
		for i := range x[3:] {
			x[3+i] = 0.2 + 0.6*x[3+i]
		}
		grad := slices.Repeat([]float64{17}, len(x)) // the gradient replaces these values
		if value := p.Gradient(grad, x); math.Abs(value-p.Value(x)) > 1e-9 {
			t.Fatalf("%g with the gradient, %g without", value, p.Value(x))
		}
		fbotest.CheckGradient(t, grad, x, p.Value, 1e-4)
	}
}

// One density, whatever it is, lowers, raises and shifts the score no more than the package comment
// states for each rule, and neither do all.
func TestInfluenceIsBounded(t *testing.T) {
	spec := newTask(t, mixed, "")
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("densities", 0)
		n := rapid.IntRange(1, 6).Draw(rt, "peers")
		factor := rapid.Float64Range(0, 1000).Draw(rt, "factor")
		weights := randomWeights(rng)
		if only := rapid.IntRange(0, int(rules)).Draw(rt, "rule"); only < int(rules) {
			weights = Only(Rule(only))
		}
		honest := normals(spec, n-1, protocol.MinSpread, rng)
		hostile := normals(spec, 1, protocol.MinSpread, rng)[0]
		if rapid.Bool().Draw(rt, "a needle") {
			hostile = optprior.Around(optprior.NewLayout(spec.Space), protocol.MinSpread, snapped(spec, rng))
		}
		even := optprior.Around(optprior.NewLayout(spec.Space), protocol.MaxSpread, snapped(spec, rng))
		a, b := acquisition.Sample(spec.Space, rng), acquisition.Sample(spec.Space, rng)
		if m, ok := hostile.(*optprior.Mixture); ok && rapid.Bool().Draw(rt, "at the centre") {
			a = m.Centres()[0]
		}
		with, uniform := New(append(honest[:n-1:n-1], hostile), weights, factor), New(append(honest[:n-1:n-1], even), weights, factor)
		most := weights[Arithmetic] + weights[Geometric]/float64(n) + weights[Between]/math.Sqrt(float64(n)) + weights[Product]
		// The widest density is uniform up to 0.02.
		slack := 1e-9*(1+factor) + 0.02*factor*most
		moved := with.Value(a) - uniform.Value(a)
		if !(moved >= -factor*most*math.Log(1/UniformShare)-slack && moved <= factor*most*math.Log(Ceiling)+slack) {
			rt.Fatalf("one of %d densities moved the score by %g; factor %g, s %g", n, moved, factor, most)
		}
		shift := moved - (with.Value(b) - uniform.Value(b))
		if bound := factor * most * math.Log(Ceiling/UniformShare); !(math.Abs(shift) <= bound+2*slack) {
			rt.Fatalf("one of %d densities shifted one design against another by %g, the bound is %g", n, shift, bound)
		}
		together := factor * with.Influence() * math.Log(Ceiling/UniformShare)
		if got := math.Abs(with.Value(a) - with.Value(b)); !(got <= together+1e-9*(1+together)) {
			rt.Fatalf("%d densities shift one design against another by %g, the bound is %g", n, got, together)
		}
		if with.Influence() > float64(n)+1e-12 {
			rt.Fatalf("influence %g of %d densities, expected at most %d", with.Influence(), n, n)
		}
	})
}

// The bounds are sharp: agreeing needles reach that of the product.
func TestBoundIsReached(t *testing.T) {
	spec := newTask(t, mixed, "")
	centre, far := []float64{0.5, 0.5, 0.5, 0, 1, 0}, []float64{0.9, 0.5, 0.5, 0, 1, 0}
	needle := optprior.Around(optprior.NewLayout(spec.Space), protocol.MinSpread, centre)
	for n := 1; n < 5; n++ {
		p := New(slices.Repeat([]acquisition.Function{needle}, n), Only(Product), 1)
		if got, want := p.Value(centre), float64(n)*math.Log(Ceiling); math.Abs(got-want) > 0.001*float64(n) {
			t.Errorf("%d needles give %g at their centre, want %g", n, got, want)
		}
		if got, want := p.Value(far), float64(n)*math.Log(UniformShare); math.Abs(got-want) > 0.001*float64(n) {
			t.Errorf("%d needles give %g far from their centre, want %g", n, got, want)
		}
		grad := make([]float64, len(far))
		p.Gradient(grad, far)
		for i, slope := range grad {
			if slope != 0 {
				t.Errorf("slope %d is %g where the densities are 0", i, slope)
			}
		}
	}
}

// viewOf is the view of an agent that has evaluated f, to be minimised, at these designs.
func viewOf(t testing.TB, spec *task.Task, x [][]float64, f func(x []float64) float64) strategy.View {
	t.Helper()
	view := strategytest.View(spec, x, f)
	strategytest.Condition(t, &view, 1e-3)
	return view
}

func bowl(at float64) func(x []float64) float64 {
	return func(x []float64) float64 { return (x[0]-at)*(x[0]-at) + (x[1]-at)*(x[1]-at) }
}

func uniformly(spec *task.Task, count int, rng *rand.Rand) (x [][]float64) {
	for range count {
		x = append(x, snapped(spec, rng))
	}
	return x
}

// peers are nine densities around centres near this place.
func peers(spec *task.Task, at float64, rng *rand.Rand) (densities []acquisition.Function, centres [][]float64) {
	for range 9 {
		x := make([]float64, spec.Space.Dim())
		for i := range x {
			x[i] = min(max(at+0.1*(rng.Float64()-0.5), 0), 1)
		}
		densities = append(densities, optprior.Around(optprior.NewLayout(spec.Space), 0.2, x))
		centres = append(centres, x)
	}
	return densities, centres
}

func evidence(view strategy.View, densities []acquisition.Function, centres [][]float64, seed uint64) Weights {
	rng := random.SeedOf(seed).Stream("designs", 0)
	designs := Candidates(optprior.NewLayout(view.Task.Space), uniformly(view.Task, 256, rng), centres, rng)
	return Evidence(view, Even(), densities, designs, random.SeedOf(seed).Stream("evidence", 0))
}

// Peers that agree on the own optimum make the product the most probable rule, and peers that agree
// on another place make all rules but Alone improbable.
func TestEvidencePrefersTheRightRule(t *testing.T) {
	spec := newTask(t, plane, "")
	for seed := range uint64(5) {
		rng := random.SeedOf(seed).Stream("own", 0)
		x := append(uniformly(spec, 10, rng), []float64{0.3, 0.3}, []float64{0.8, 0.8})
		view := viewOf(t, spec, x, bowl(0.3))
		densities, centres := peers(spec, 0.3, rng)
		w := evidence(view, densities, centres, seed)
		if r := Rule(slices.Index(w[:], slices.Max(w[:]))); r != Product || w[Alone] > 0.05 {
			t.Errorf("seed %d: weights %.3f of agreeing peers, expected most for the product", seed, w)
		}
		densities, centres = peers(spec, 0.8, rng)
		if w := evidence(view, densities, centres, seed); w[Alone] < 0.5 || w[Product] > 0.01 {
			t.Errorf("seed %d: weights %.3f of peers at a wrong place, expected most for Alone", seed, w)
		}
	}
}

// The weights do not depend on the order of densities, and sum to 1.
func TestEvidenceDoesNotDependOnTheOrderOfPeers(t *testing.T) {
	spec := newTask(t, plane, "")
	rng := random.SeedOf(2).Stream("own", 0)
	view := viewOf(t, spec, uniformly(spec, 6, rng), bowl(0.3))
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("densities", 0)
		densities := normals(spec, rapid.IntRange(1, 6).Draw(rt, "peers"), 0.05, rng)
		reversed := slices.Clone(densities)
		slices.Reverse(reversed)
		w, again := evidence(view, densities, nil, 1), evidence(view, reversed, nil, 1)
		total := 0.0
		for r := range w {
			total += w[r]
			if math.Abs(w[r]-again[r]) > 1e-9 || !(w[r] >= 0) {
				rt.Fatalf("weights %g and %g", w, again)
			}
		}
		if math.Abs(total-1) > 1e-9 {
			rt.Fatalf("weights %g sum to %g, want 1", w, total)
		}
		x := snapped(spec, rng)
		if a, b := New(densities, w, 1).Value(x), New(reversed, w, 1).Value(x); math.Abs(a-b) > 1e-9*(1+math.Abs(a)) {
			rt.Fatalf("%g, in another order %g", a, b)
		}
	})
}

// Uniform densities are no evidence for any rule, and neither are draws that outcomes do not change.
func TestNoEvidence(t *testing.T) {
	spec := newTask(t, plane, "")
	rng := random.SeedOf(3).Stream("own", 0)
	view := viewOf(t, spec, uniformly(spec, 6, rng), bowl(0.3))
	even := optprior.Around(optprior.NewLayout(spec.Space), protocol.MaxSpread, []float64{0.5, 0.5})
	w := evidence(view, []acquisition.Function{even, even}, nil, 1)
	for r := range w {
		if math.Abs(w[r]-0.2) > 0.01 {
			t.Errorf("weights %.3f by uniform densities, want equal ones", w)
		}
	}
	densities, centres := peers(spec, 0.5, rng)
	view.Posterior = nil
	if w := evidence(view, densities, centres, 1); w != Even() {
		t.Errorf("weights %.3f without a posterior, want equal ones", w)
	}
	all := uniformly(spec, 50, rng)
	logs := logsOf(densities, all)
	same := []int{3, 3, 14, 7}
	for r, v := range Even().after(logs, same, same) {
		if math.Abs(v-0.2) > 1e-12 {
			t.Errorf("rule %d has weight %g after no change, want 0.2", r, v)
		}
	}
}

// The weights are those of Bayes' rule: prior times the ratio of the averages.
func TestWeightsAreBayes(t *testing.T) {
	var logs [rules][]float64
	for r := range logs {
		logs[r] = []float64{0, float64(r), -float64(r)}
	}
	before, after := []int{0, 1, 2}, []int{1, 1, 0}
	prior := Weights{0.5, 0.2, 0.1, 0.1, 0.1}
	var want Weights
	total := 0.0
	for r := range want {
		q := math.Exp(float64(r))
		want[r] = prior[r] * (2*q + 1) / (1 + q + 1/q)
		total += want[r]
	}
	for r, got := range prior.after(logs, before, after) {
		if math.Abs(got-want[r]/total) > 1e-12 {
			t.Errorf("rule %d: weight %g, want %g", r, got, want[r]/total)
		}
	}
}

// A draw's optimum is the best design that satisfies the limits in draws of the constraints.
func TestOptimaAreFeasible(t *testing.T) {
	certain := func(values ...float64) *sampler {
		return &sampler{values, *mat.NewTriDense(len(values), mat.Lower, nil)}
	}
	rng := random.SeedOf(1).Stream("draws", 0)
	of := func(p pair) *sampler { return p.after }
	objective := []pair{{after: certain(1, 9, 2)}}
	c := limit{pair: pair{after: certain(5, -5, 5)}, low: 0, high: math.Inf(1)}
	if i := best(objective, []limit{c}, of, rng); i != 2 {
		t.Errorf("the optimum is design %d, want 2", i)
	}
	c.low = 10
	if i := best(objective, []limit{c}, of, rng); i != -1 {
		t.Errorf("the optimum is design %d, want none", i)
	}
	if i := best(objective, nil, of, rng); i != 1 {
		t.Errorf("the optimum is design %d, want 1", i)
	}
	// With two objectives designs 1 and 2 are on the front, and 0 is dominated by both.
	seen := map[int]int{}
	for range 100 {
		seen[best([]pair{{after: certain(1, 9, 2)}, {after: certain(1, 3, 5)}}, nil, of, rng)]++
	}
	if seen[0] > 0 || seen[1] < 30 || seen[2] < 30 {
		t.Errorf("designs of the front are drawn %v times, want 1 and 2 about 50 times each", seen)
	}
}
