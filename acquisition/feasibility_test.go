package acquisition

import (
	"context"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/task"
)

// The log probability of an interval and its slopes agree with the midpoint rule over
// the density, relative to its largest value, in both tails.
func TestLogBetweenIsTheIntegral(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.Float64Range(-40, 40).Draw(rt, "a")
		width := math.Exp(rapid.Float64Range(math.Log(2e-6), math.Log(20)).Draw(rt, "log width"))
		b := a + width
		width = b - a
		const steps = 20000
		peak := 0.0 // where the density is largest
		if a > 0 {
			peak = a
		} else if b < 0 {
			peak = b
		}
		reach := min(width, 12) // farther from the peak is nothing
		from := min(max(peak-reach/2, a), b-reach)
		if peak == a {
			from = a
		} else if peak == b {
			from = b - reach
		}
		sum := 0.0
		for i := range steps {
			z := from + reach*(float64(i)+0.5)/steps
			sum += math.Exp((peak*peak - z*z) / 2)
		}
		want := math.Log(sum*reach/steps) - peak*peak/2 - halfLog2Pi
		got, byA, byB := logBetween(a, b)
		if math.Abs(got-want) > 2e-4*(1+math.Abs(peak)/20) {
			rt.Fatalf("[%g, %g]: %g, by integration %g", a, b, got, want)
		}
		mirrored, byMinusB, byMinusA := logBetween(-b, -a)
		if math.Abs(mirrored-got) > 1e-12*(1+math.Abs(got)) || math.Abs(byA+byMinusA) > 1e-9*(1+math.Abs(byA)) || math.Abs(byB+byMinusB) > 1e-9*(1+math.Abs(byB)) {
			rt.Fatalf("[%g, %g]: %g %g %g, mirrored %g %g %g", a, b, got, byA, byB, mirrored, byMinusB, byMinusA)
		}
		if byA > 0 || byB < 0 || math.IsNaN(byA) || math.IsInf(byB, 0) {
			rt.Fatalf("[%g, %g]: slopes %g and %g", a, b, byA, byB)
		}
	})
}

// Where both forms hold they agree: the parabola of narrow intervals against the
// difference in 200 bits.
func TestNarrowIntervals(t *testing.T) {
	for _, centre := range []float64{0, -0.3, -2, -8, -30} {
		width := 0.99 * narrowWidth / max(1, math.Abs(centre))
		got, _, _ := logBetween(centre-width/2, centre+width/2)
		// Simpson's rule has an error of the fourth order in the width.
		at := func(z float64) *big.Float { return big.NewFloat(math.Exp((centre*centre - z*z) / 2)) }
		sum := new(big.Float).Add(at(centre-width/2), at(centre+width/2))
		sum.Add(sum, new(big.Float).Mul(big.NewFloat(4), at(centre)))
		simpson, _ := sum.Float64()
		want := math.Log(simpson*width/6) - centre*centre/2 - halfLog2Pi
		if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("around %g: %g, want %g", centre, got, want)
		}
	}
}

// What is exactly one number is looked for all the same.
func TestLimitsThatAreEqual(t *testing.T) {
	p := oneObservation{[]float64{0.5}, 1, 0.3}
	f := LogFeasibility(Limit{Predictor: p, Low: 0.7, High: 0.7})
	near, far := f.Value([]float64{0.65}), f.Value([]float64{0.55})
	if math.IsInf(near, 0) || !(near > far) {
		t.Errorf("%g where the mean is near, %g where it is far", near, far)
	}
}

// Without limits everything is feasible, and a penalty for nothing is none.
func TestWithoutLimits(t *testing.T) {
	p := oneObservation{[]float64{0.5}, 1, 0.3}
	if got := LogFeasibility().Value([]float64{0.1}); got != 0 {
		t.Errorf("log probability %g", got)
	}
	f := LogEI(p, 0.2)
	if got := Penalised(f); got != f {
		t.Error("another function than its own")
	}
	if got := Margin(Limit{Predictor: p, Low: math.Inf(-1), High: math.Inf(1)}, 2); len(got) != 0 {
		t.Errorf("margins %v of no limit", got)
	}
}

// bowlAt is -|x-at|².
func bowlAt(at ...float64) Function {
	return analytic(func(x []float64) float64 {
		sum := 0.0
		for i := range x {
			sum -= (x[i] - at[i]) * (x[i] - at[i])
		}
		return sum
	})
}

// The maximum on the border, and the least violation where nothing is allowed. The slope
// of the objective at the border is 0.8 of that of the bound, so that the bound is
// broken by at most 0.0004, and the square of a coordinate by as much.
func TestPenalisedMaximum(t *testing.T) {
	space, err := task.NewSpace([]task.Parameter{{Name: "x", Kind: task.Float, High: 1}, {Name: "y", Kind: task.Float, High: 1}})
	if err != nil {
		t.Fatal(err)
	}
	first := analytic(func(x []float64) float64 { return x[0] })
	for name, c := range map[string]struct {
		low, high float64
		x         float64
	}{
		"inside":  {0, 0.9, 0.7},
		"below":   {0, 0.3, 0.3},
		"above":   {0.8, 1, 0.8},
		"nowhere": {1.5, 2, 1},
	} {
		f := Penalised(bowlAt(0.7, 0.4), Bounded{first, c.low, c.high})
		x, _, err := Maximizer{Space: space}.Maximize(context.Background(), f, nil, random.SeedOf(1).Stream("t", 0))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(x[0]-c.x) > 5e-4 || math.Abs(x[1]-0.4) > 2e-3 {
			t.Errorf("%s: maximum at %v, want %g and 0.4", name, x, c.x)
		}
		if over := math.Sqrt(Violation(x, Bounded{first, c.low, c.high})); name != "nowhere" && over > 5e-4 {
			t.Errorf("%s: broken by %g", name, over)
		}
	}
}
