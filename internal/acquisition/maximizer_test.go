package acquisition

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// analytic is a Function with a gradient by central differences, so that a test
// only states values.
type analytic func(x []float64) float64

func (f analytic) Value(x []float64) float64 { return f(x) }

func (f analytic) Gradient(grad, x []float64) float64 {
	const step = 1e-6
	moved := slices.Clone(x)
	for i := range x {
		moved[i] = x[i] + step
		up := f(moved)
		moved[i] = x[i] - step
		grad[i] = (up - f(moved)) / (2 * step)
		moved[i] = x[i]
	}
	return f(x)
}

func newSpace(t testing.TB, parameters ...task.Parameter) *task.Space {
	t.Helper()
	space, err := task.NewSpace(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

func floats(t testing.TB, count int) *task.Space {
	var parameters []task.Parameter
	for i := range count {
		parameters = append(parameters, task.Parameter{Name: fmt.Sprintf("x%d", i), Kind: task.Float, Low: 0, High: 1})
	}
	return newSpace(t, parameters...)
}

func mixed(t testing.TB) *task.Space {
	return newSpace(t,
		task.Parameter{Name: "a", Kind: task.Float, Low: -5, High: 10},
		task.Parameter{Name: "n", Kind: task.Int, Low: 1, High: 1 << 20, Scale: task.Log},
		task.Parameter{Name: "c", Kind: task.Categorical, Choices: []string{"p", "q", "r"}},
		task.Parameter{Name: "k", Kind: task.Int, Low: -3, High: 4},
		task.Parameter{Name: "b", Kind: task.Float, Low: 1e-5, High: 1, Scale: task.Log},
	)
}

// quadratic peaks at top with value 0.
func quadratic(top []float64) analytic {
	return func(x []float64) float64 {
		sum := 0.0
		for i := range x {
			sum -= (x[i] - top[i]) * (x[i] - top[i])
		}
		return sum
	}
}

func branin(x []float64) float64 {
	a, b := 15*x[0]-5, 15*x[1]
	u := b - 5.1/(4*math.Pi*math.Pi)*a*a + 5/math.Pi*a - 6
	return -(u*u + 10*(1-1/(8*math.Pi))*math.Cos(a) + 10)
}

// rastrigin has 11 local maxima per coordinate; the best, 0, is at 0.4.
func rastrigin(x []float64) float64 {
	sum := 0.0
	for _, u := range x {
		z := 10 * (u - 0.4)
		sum -= z*z + 2*(1-math.Cos(2*math.Pi*z))
	}
	return sum
}

func TestFindsKnownMaxima(t *testing.T) {
	top := []float64{0.3, 0.9, 0.05, 0.5, 0.7, 0.2}
	narrow := func(x []float64) float64 { // a ridge of condition 1,000
		return -(x[0]-0.3)*(x[0]-0.3) - 1000*(x[1]-x[0])*(x[1]-x[0])
	}
	tests := map[string]struct {
		space     *task.Space
		f         analytic
		want      float64
		tolerance float64
	}{
		"inside":    {floats(t, 6), quadratic(top), 0, 1e-6},
		"outside":   {floats(t, 2), quadratic([]float64{1.5, -0.5}), -0.5, 1e-12},
		"narrow":    {floats(t, 2), narrow, 0, 1e-4},
		"branin":    {floats(t, 2), branin, -0.397887, 1e-5},
		"rastrigin": {floats(t, 2), rastrigin, 0, 1e-4},
		"constant":  {floats(t, 2), func([]float64) float64 { return 7 }, 7, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				rng := random.SeedOf(seed).Stream("t", 0)
				x, value, _ := Maximizer{Space: test.space}.Maximize(t.Context(), test.f, nil, rng)
				if math.Abs(value-test.want) > test.tolerance {
					t.Errorf("seed %d: f(%v) = %g, the maximum is %g", seed, x, value, test.want)
				}
			}
		})
	}
}

// The maximum of a mixed space, with the optimum of the floats moving with the
// category and the log int, is where the definition puts it.
func TestFindsMixedMaximum(t *testing.T) {
	space := mixed(t)
	f := analytic(func(x []float64) float64 {
		d := space.Decode(x)
		shift := map[string]float64{"p": 0.2, "q": 0.5, "r": 0.8}[d.Choice("c")]
		bonus := map[string]float64{"p": 0, "q": 0.3, "r": 0.1}[d.Choice("c")]
		n := math.Log2(float64(d.Int("n"))) / 20
		k := float64(d.Int("k"))
		return bonus - (x[0]-shift)*(x[0]-shift) - 4*(n-0.6)*(n-0.6) - 0.05*(k-3)*(k-3) - (x[6]-x[0])*(x[6]-x[0])
	})
	for seed := range uint64(5) {
		rng := random.SeedOf(seed).Stream("t", 0)
		x, value, _ := Maximizer{Space: space}.Maximize(t.Context(), f, nil, rng)
		d := space.Decode(x)
		if value < 0.3-1e-6 || d.Choice("c") != "q" || d.Int("n") != 4096 || d.Int("k") != 3 {
			t.Errorf("seed %d: %v with %g; want c=q n=4096 k=3 with 0.3", seed, d, value)
		}
	}
}

// A peak that 1,000 uniform designs in six dimensions do not see is found from
// a near design.
func TestMaximizeFindsPeakFromNearDesign(t *testing.T) {
	space := floats(t, 6)
	top := []float64{0.31, 0.62, 0.13, 0.84, 0.45, 0.56}
	f := analytic(func(x []float64) float64 { return math.Exp(2000 * quadratic(top)(x)) })
	near := slices.Clone(top)
	near[2] += 0.02
	_, value, _ := Maximizer{Space: space}.Maximize(t.Context(), f, [][]float64{near}, random.SeedOf(1).Stream("t", 0))
	if value < 0.999 {
		t.Errorf("value %g, the peak is 1", value)
	}
}

func drawSpace(rt *rapid.T) *task.Space {
	var parameters []task.Parameter
	for i := range rapid.IntRange(1, 5).Draw(rt, "parameters") {
		p := task.Parameter{Name: fmt.Sprintf("p%d", i)}
		p.Kind = rapid.SampledFrom([]task.Kind{task.Float, task.Int, task.Categorical, task.Bool}).Draw(rt, "kind")
		numbers := []float64{-3, 0.5, 1, 8, 100}[:rapid.IntRange(2, 5).Draw(rt, "numbers")]
		switch listed := rapid.Bool().Draw(rt, "listed"); {
		case p.Kind == task.Bool:
		case p.Kind == task.Int && listed:
			p.Numbers = []float64{16, 32, 64}
		case listed:
			p.Numbers = numbers
		case p.Kind == task.Categorical:
			p.Choices = []string{"a", "b", "c", "d"}[:rapid.IntRange(2, 4).Draw(rt, "choices")]
		default:
			p.Low = float64(rapid.IntRange(1, 50).Draw(rt, "low"))
			p.High = p.Low + float64(rapid.IntRange(1, 5000).Draw(rt, "range"))
			p.Scale = rapid.SampledFrom([]task.Scale{task.Linear, task.Log}).Draw(rt, "scale")
			if p.Scale == task.Linear && rapid.Bool().Draw(rt, "steps") {
				p.Step = float64(rapid.IntRange(1, int(p.High-p.Low)).Draw(rt, "step"))
			}
		}
		parameters = append(parameters, p)
	}
	space, err := task.NewSpace(parameters)
	if err != nil {
		rt.Fatal(err)
	}
	return space
}

// wave is a rough function of any dimension; with holes it is NaN in places.
func wave(rng *rand.Rand, dim int, holes bool) analytic {
	s := make([]float64, dim)
	for i := range s {
		s[i] = 10 * rng.NormFloat64()
	}
	return func(x []float64) float64 {
		phase := 0.0
		for i := range x {
			phase += s[i] * x[i]
		}
		if holes && math.Sin(3*phase) > 0.5 {
			return math.NaN()
		}
		return math.Sin(phase) + 0.1*math.Cos(5*phase)
	}
}

func TestResultIsAlwaysADesign(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		space := drawSpace(rt)
		seed := random.SeedOf(rapid.Uint64().Draw(rt, "seed"))
		f := wave(seed.Stream("f", 0), space.Dim(), rapid.Bool().Draw(rt, "holes"))
		m := Maximizer{Space: space, Candidates: rapid.IntRange(1, 30).Draw(rt, "candidates"), Searches: 3}
		var near [][]float64
		for range rapid.IntRange(0, 7).Draw(rt, "near") {
			near = append(near, Sample(space, seed.Stream("near", 0)))
		}
		before := fmt.Sprint(near)
		x, value, _ := m.Maximize(t.Context(), f, near, seed.Stream("m", 0))
		if fmt.Sprint(near) != before {
			rt.Fatal("near was altered")
		}
		snapped := slices.Clone(x)
		space.Snap(snapped)
		if !slices.Equal(x, snapped) {
			rt.Fatalf("%v is no design; Snap gives %v", x, snapped)
		}
		if err := space.Check(space.Decode(x)); err != nil {
			rt.Fatal(err)
		}
		if got := f.Value(x); got != value && !(math.IsNaN(got) && math.IsNaN(value)) {
			rt.Fatalf("value %g, but f(x) = %g", value, got)
		}
		for _, n := range near {
			if f.Value(n) > value {
				rt.Fatalf("a near design has %g, the result %g", f.Value(n), value)
			}
		}
		again, _, _ := m.Maximize(t.Context(), f, near, seed.Stream("m", 0))
		if !slices.Equal(x, again) {
			rt.Fatalf("%v, and again %v", x, again)
		}
	})
}

func TestEveryEvaluationIsADesign(t *testing.T) {
	space := mixed(t)
	f := quadratic(make([]float64, space.Dim()))
	strict := strictFunction{f, func(x []float64) {
		snapped := slices.Clone(x)
		space.Snap(snapped)
		if !slices.Equal(x, snapped) {
			t.Fatalf("evaluated at %v, which is no design", x)
		}
	}}
	Maximizer{Space: space, Candidates: 200, Workers: 1}.Maximize(t.Context(), strict, [][]float64{make([]float64, space.Dim())}, random.SeedOf(1).Stream("t", 0))
}

type strictFunction struct {
	analytic
	check func([]float64)
}

func (s strictFunction) Value(x []float64) float64 {
	s.check(x)
	return s.analytic.Value(x)
}

func (s strictFunction) Gradient(grad, x []float64) float64 {
	s.check(x)
	return s.analytic.Gradient(grad, x)
}

func TestEnumeratesSmallSpaces(t *testing.T) {
	space := newSpace(t,
		task.Parameter{Name: "n", Kind: task.Int, Low: 1, High: 30, Scale: task.Log},
		task.Parameter{Name: "c", Kind: task.Categorical, Choices: []string{"p", "q", "r"}},
		task.Parameter{Name: "k", Kind: task.Int, Low: -3, High: 4},
	)
	seen := map[string]bool{}
	needle := analytic(func(x []float64) float64 {
		d := space.Decode(x)
		seen[d.Key()] = true
		if d.Int("n") == 17 && d.Choice("c") == "r" && d.Int("k") == -2 {
			return 1
		}
		return 0
	})
	if _, value, _ := (Maximizer{Space: space, Workers: 1}).Maximize(t.Context(), needle, nil, random.SeedOf(1).Stream("t", 0)); value != 1 {
		t.Errorf("the needle was not found: %g", value)
	}
	if count, _ := space.Finite(); len(seen) != count {
		t.Errorf("%d designs evaluated, the space has %d", len(seen), count)
	}
}

// Over 6,000 samples every cell of a space of 15 designs should hold 400, with standard deviation 19.3; five of them fail a right program once
// in 100,000 seeds, and bounds with half the probability (as rounding to a grid
// with the bounds at its ends gives) lie ten away.
func TestSampleIsUniform(t *testing.T) {
	for stream, space := range []*task.Space{
		newSpace(t,
			task.Parameter{Name: "c", Kind: task.Categorical, Choices: []string{"p", "q", "r"}},
			task.Parameter{Name: "k", Kind: task.Int, Low: 1, High: 5},
		),
		newSpace(t,
			task.Parameter{Name: "c", Kind: task.Categorical, Numbers: []float64{7, 1, 3}},
			task.Parameter{Name: "k", Kind: task.Float, Low: -0.2, High: 0.25, Step: 0.1},
		),
		newSpace(t,
			task.Parameter{Name: "c", Kind: task.Float, Numbers: []float64{0.1, 1, 10}},
			task.Parameter{Name: "k", Kind: task.Int, Low: 16, High: 84, Step: 16},
		),
	} {
		rng := random.SeedOf(2).Stream("t", uint64(stream))
		counts := map[string]int{}
		for range 6000 {
			counts[space.Decode(Sample(space, rng)).Key()]++
		}
		for key, count := range counts {
			if count < 303 || count > 497 {
				t.Errorf("%s drawn %d times, want near 400", key, count)
			}
		}
		if len(counts) != 15 {
			t.Errorf("%d designs drawn, the space has 15", len(counts))
		}
	}
}

func ExampleMaximizer() {
	space, err := task.NewSpace([]task.Parameter{
		{Name: "rate", Kind: task.Float, Low: 0, High: 2},
		{Name: "layers", Kind: task.Int, Low: 1, High: 9},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	peak := analytic(func(x []float64) float64 {
		d := space.Decode(x)
		return -math.Pow(d.Float("rate")-0.5, 2) - math.Abs(float64(d.Int("layers"))-4)
	})
	rng := random.SeedOf(1).Stream("maximizer", 0)
	x, value, _ := Maximizer{Space: space}.Maximize(context.Background(), peak, nil, rng)
	best := space.Decode(x)
	fmt.Printf("rate %.3f, layers %d, value %.3f\n", best.Float("rate"), best.Int("layers"), math.Abs(value))
	// Output: rate 0.500, layers 4, value 0.000
}
