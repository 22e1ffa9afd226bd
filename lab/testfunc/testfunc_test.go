package testfunc

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/optimize/functions"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// everything is one of each function.
func everything() []Function {
	return []Function{
		Branin(), Hartmann3(), Hartmann6(), Shekel4(5), Shekel4(7), Shekel4(10), Mixed(),
		Ackley(1), Ackley(5), Levy(1), Levy(6), Rosenbrock(2), Rosenbrock(4), Griewank(5),
		Michalewicz(1), Michalewicz(2), Michalewicz(5), Michalewicz(10),
		Sphere(3), Ellipsoid(4), Rastrigin(1), Rastrigin(5), StyblinskiTang(3), Weierstrass(2), Zakharov(3), Powell(4), Powell(10),
	}
}

// Values that others have published, to the digits they give.
func TestPublishedOptima(t *testing.T) {
	tests := []struct {
		f        Function
		optimum  float64
		decimals float64
	}{
		{Branin(), 0.397887, 6},
		{Hartmann3(), -3.86278, 5},
		{Hartmann6(), -3.32237, 5},
		{Shekel4(5), -10.1532, 4},
		{Shekel4(7), -10.4029, 4},
		{Shekel4(10), -10.5364, 4},
		{Ackley(5), 0, 15},
		{Levy(6), 0, 15},
		{Rosenbrock(4), 0, 15},
		{Griewank(5), 0, 15},
		{Michalewicz(2), -1.8013, 4},
		{Michalewicz(5), -4.687658, 6},
		{Michalewicz(10), -9.66015, 5},
		{StyblinskiTang(2), -78.33233, 5},
		{Rastrigin(4), 0, 15},
		{Powell(8), 0, 15},
	}
	for _, test := range tests {
		if off := math.Abs(test.f.Optimum - test.optimum); off > 0.51*math.Pow(10, -test.decimals) {
			t.Errorf("%s: optimum %.10g, published is %g", test.f.Name, test.f.Optimum, test.optimum)
		}
	}
}

// Values computed by hand or by an independent implementation, away from the
// optimum.
func TestValues(t *testing.T) {
	tests := []struct {
		f     Function
		x     []float64
		value float64
	}{
		{Ackley(2), []float64{1, 0}, 20 - 20*math.Exp(-0.2*math.Sqrt(0.5)) + math.E - math.E},
		{Levy(2), []float64{5, 1}, math.Pow(math.Sin(2*math.Pi), 2) + 1 + 10*math.Pow(math.Sin(2*math.Pi+1), 2)},
		{Rosenbrock(3), []float64{1, 2, 3}, 100 + 0 + 100 + 1},
		{Griewank(2), []float64{math.Pi, 0}, math.Pi*math.Pi/4000 + 2},
		{Michalewicz(1), []float64{math.Pi / 2}, -math.Pow(math.Sin(math.Pi/4), 20)},
		{Sphere(2), []float64{3, -4}, 25},
		{Ellipsoid(3), []float64{1, -2, 3}, 1 + 8 + 27},
		{Rastrigin(2), []float64{0.5, 1}, 0.25 + 20 + 1},
		{StyblinskiTang(1), []float64{2}, (16 - 64 + 10) / 2.},
		{Weierstrass(1), []float64{0.5}, 2 * (2 - math.Pow(0.5, 20))},
		{Zakharov(2), []float64{2, -2}, 8 + 1 + 1},
		{Powell(4), []float64{3, -1, 0, 1}, 49 + 5 + 1 + 160},
		{Mixed(), []float64{0, 0, 16, 0}, 0.15 + 1 + 2.25 + 4*math.Pow(0.75+math.Sin(3)/2, 2)},
		{Shekel4(5), []float64{0, 0, 0, 0}, -(1/64.1 + 1/4.2 + 1/256.2 + 1/144.4 + 1/116.4)},
		{Hartmann3(), []float64{0.3689, 0.1170, 0.2673}, hartmann3AtFirstCentre()},
	}
	for _, test := range tests {
		if value := test.f.Value(test.x); math.Abs(value-test.value) > 1e-12*(1+math.Abs(value)) {
			t.Errorf("%s at %v is %.15g, want %.15g", test.f.Name, test.x, value, test.value)
		}
	}
	rng := random.SeedOf(1).Stream("points", 0)
	for range 100 {
		x := anywhere(Branin(), 1, rng)
		want := functions.BraninHoo{}.Func(x)
		if value := Branin().Value(x); math.Abs(value-want) > 1e-9*(1+want) {
			t.Errorf("branin at %v is %g, gonum has %g", x, value, want)
		}
	}
}

func hartmann3AtFirstCentre() float64 {
	second := 0.1*math.Pow(0.4699-0.3689, 2) + 10*math.Pow(0.4387-0.1170, 2) + 35*math.Pow(0.7470-0.2673, 2)
	third := 3*math.Pow(0.1091-0.3689, 2) + 10*math.Pow(0.8732-0.1170, 2) + 30*math.Pow(0.5547-0.2673, 2)
	fourth := 0.1*math.Pow(0.0381-0.3689, 2) + 10*math.Pow(0.5743-0.1170, 2) + 35*math.Pow(0.8828-0.2673, 2)
	return -1 - 1.2*math.Exp(-second) - 3*math.Exp(-third) - 3.2*math.Exp(-fourth)
}

func TestMinimizersAreDesignsWithTheOptimum(t *testing.T) {
	for _, f := range everything() {
		checkMinimizers(t, f)
	}
}

type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

func checkMinimizers(t reporter, f Function) {
	t.Helper()
	if len(f.Minimizers) == 0 {
		t.Errorf("%s has no minimizer", f.Name)
	}
	for _, x := range f.Minimizers {
		design, err := f.Design(x)
		if err != nil {
			t.Errorf("%s: minimizer %v: %v", f.Name, x, err)
			continue
		}
		if got := f.Coordinates(design); !slices.Equal(got, x) {
			t.Errorf("%s: coordinates %v of minimizer %v", f.Name, got, x)
		}
		tolerance := 1e-12 * (1 + math.Abs(f.Optimum))
		if value := f.At(design); math.Abs(value-f.Optimum) > tolerance {
			t.Errorf("%s at minimizer %v is %.17g, optimum %.17g", f.Name, x, value, f.Optimum)
		}
		// Surrogates search among decoded designs, which lie on a grid.
		decoded := f.Space.Decode(f.Space.Encode(design))
		if value := f.At(decoded); value-f.Optimum > 1e-6 {
			t.Errorf("%s at decoded minimizer %v is %g above the optimum", f.Name, decoded, value-f.Optimum)
		}
	}
}

// No point is below the stated optimum, neither in the space nor within a shift of
// it, nor does a local search from the best of the points get there.
func TestNothingIsBelowTheOptimum(t *testing.T) {
	for _, f := range everything() {
		rng := random.SeedOf(2).Stream(f.Name, 0)
		for _, beyond := range []float64{0, min(f.Reach, maxShift), min(f.Reach, 3)} {
			lowest := anywhere(f, beyond, rng)
			for range 2000 {
				x := anywhere(f, beyond, rng)
				if f.Value(x) < f.Value(lowest) {
					lowest = x
				}
			}
			checkNotBelow(t, f, beyond, lowest)
			checkNotBelow(t, f, beyond, descended(t, f, lowest))
			for _, x := range f.Minimizers {
				checkNotBelow(t, f, beyond, descended(t, f, x))
			}
		}
	}
}

func checkNotBelow(t *testing.T, f Function, beyond float64, x []float64) {
	t.Helper()
	for i, p := range f.Space.Parameters() {
		if width := p.High - p.Low; p.Kind != task.Categorical && (x[i] < p.Low-beyond*width || x[i] > p.High+beyond*width) {
			return // the descent has left what is promised
		}
	}
	if value := f.Value(x); !(value >= f.Optimum-1e-10*(1+math.Abs(f.Optimum))) {
		t.Errorf("%s at %v is %.12g, below the optimum %.12g", f.Name, x, value, f.Optimum)
	}
}

// descended is where a local search over the floats alone ends.
func descended(t *testing.T, f Function, from []float64) []float64 {
	t.Helper()
	floats := 0
	for _, p := range f.Space.Parameters() {
		if p.Kind == task.Float {
			floats++ // they come first in every space of this package
		}
	}
	x := slices.Clone(from)
	problem := optimize.Problem{Func: func(v []float64) float64 {
		copy(x, v)
		return f.Value(x)
	}}
	result, err := optimize.Minimize(problem, from[:floats], &optimize.Settings{FuncEvaluations: 2000}, &optimize.NelderMead{})
	if result == nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	copy(x, result.X)
	return x
}

// anywhere is a uniform point of the space, widened on each side by a multiple of
// each range.
func anywhere(f Function, beyond float64, rng *rand.Rand) []float64 {
	x := make([]float64, f.Space.Len())
	for i, p := range f.Space.Parameters() {
		if p.Kind == task.Categorical {
			x[i] = float64(rng.IntN(len(p.Choices)))
			continue
		}
		width := p.High - p.Low
		x[i] = p.Low - beyond*width + (1+2*beyond)*width*rng.Float64()
		if p.Kind == task.Int {
			x[i] = math.Round(x[i])
		}
	}
	return x
}

// For each int and choice of Mixed, the best floats are found by search.
func TestMixedOptimumByExhaustion(t *testing.T) {
	f := Mixed()
	best, bestOf := math.Inf(1), map[float64]float64{}
	for choice := 0.0; choice < 4; choice++ {
		bestOf[choice] = math.Inf(1)
		for n := 1.0; n <= 16; n++ {
			for _, start := range [][]float64{{-1, -1}, {1, 1}, {0, 0}} {
				x := descended(t, f, []float64{start[0], start[1], n, choice})
				bestOf[choice] = min(bestOf[choice], f.Value(x))
			}
		}
		best = min(best, bestOf[choice])
	}
	if math.Abs(best-f.Optimum) > 1e-6 {
		t.Errorf("exhaustion finds %g, stated is %g", best, f.Optimum)
	}
	for choice, want := range []float64{0.15, 0.4, 0, 0.8} {
		if got := bestOf[float64(choice)]; math.Abs(got-want) > 1e-6 {
			t.Errorf("choice %d: exhaustion finds %g, stated is %g", choice, got, want)
		}
	}
}

func TestDesignRefusesWhatIsNotInTheSpace(t *testing.T) {
	for _, x := range [][]float64{
		{0, 0, 1}, {3, 0, 1, 0}, {0, 0, 1.5, 0}, {0, 0, 17, 0}, {0, 0, 1, 4}, {0, 0, 1, -1}, {0, math.NaN(), 1, 0}, {0, 0, math.NaN(), 0},
	} {
		if _, err := Mixed().Design(x); err == nil {
			t.Errorf("Design(%v) is accepted", x)
		}
	}
}

func TestWhatCannotBeBuiltPanics(t *testing.T) {
	rng := random.SeedOf(1).Stream("shift", 0)
	short := Branin()
	short.Reach = 0.2
	logarithmic := Branin()
	logarithmic.Space = mustSpace([]task.Parameter{
		{Name: "x1", Kind: task.Float, Low: 1, High: 10, Scale: task.Log},
		{Name: "x2", Kind: task.Float, Low: 0, High: 15},
	})
	for name, build := range map[string]func(){
		"no dimension":       func() { Ackley(0) },
		"Rosenbrock of one":  func() { Rosenbrock(1) },
		"Powell of three":    func() { Powell(3) },
		"Shekel of six":      func() { Shekel4(6) },
		"shift beyond reach": func() { Shifted(short, rng) },
		"shift of a log":     func() { Shifted(logarithmic, rng) },
		"negative noise":     func() { Noisy(Branin(), -1, rng) },
		"strange design":     func() { Branin().At(task.Design{}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			build()
		})
	}
}
