package acquisition

import (
	"context"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

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
func TestFeasibilityWithoutLimits(t *testing.T) {
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
