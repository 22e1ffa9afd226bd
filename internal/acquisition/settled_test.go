package acquisition

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/task"
)

// TestMaximizeWithConditions compares the maximiser with a known maximum on one branch of a space
// whose branches have parameters of their own.
func TestMaximizeWithConditions(t *testing.T) {
	space, err := task.NewSpace([]task.Parameter{
		{Name: "method", Kind: task.Categorical, Choices: []string{"a", "b"}},
		{Name: "x", Kind: task.Float, Low: 0, High: 1, When: []task.Condition{task.Equals("method", task.ChoiceValue("a"))}},
		{Name: "y", Kind: task.Float, Low: 0, High: 1, When: []task.Condition{task.Equals("method", task.ChoiceValue("b"))}},
		{Name: "n", Kind: task.Int, Low: 0, High: 9, When: []task.Condition{task.Between("y", 0.7, math.Inf(1))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Branch a has the maximum 1; branch b has 2, at y = 0.8 and n = 7.
	f := analytic(func(x []float64) float64 {
		if x[0] > x[1] {
			return 1 - math.Pow(x[2]-0.3, 2)
		}
		return 2 - math.Pow(x[3]-0.8, 2) - math.Pow(x[4]-0.75, 2)
	})
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		x, value, err := Maximizer{Space: space}.Maximize(t.Context(), f, nil, rng)
		if err != nil {
			t.Fatal(err)
		}
		design := space.Decode(x)
		if math.Abs(value-2) > 1e-6 || design.Choice("method") != "b" || design.Int("n") != 7 || design.Active("x") {
			t.Errorf("seed %d: %v with %g, expected method=b y=0.8 n=7 with 2", seed, design, value)
		}
		settledX := append([]float64(nil), x...)
		space.Snap(settledX)
		for i := range x {
			if x[i] != settledX[i] {
				t.Errorf("seed %d: coordinate %d is %g, expected %g", seed, i, x[i], settledX[i])
			}
		}
	}
}

// TestMaximizeWithParameterConstraints has its maximum on the edge of the feasible part.
func TestMaximizeWithParameterConstraints(t *testing.T) {
	space, err := task.NewSpace([]task.Parameter{
		{Name: "x", Kind: task.Float, Low: 0, High: 1},
		{Name: "y", Kind: task.Float, Low: 0, High: 1},
		{Name: "n", Kind: task.Int, Low: 1, High: 16},
		{Name: "m", Kind: task.Int, Low: 1, High: 64},
	}, "x + y <= 1", "n * m <= 64")
	if err != nil {
		t.Fatal(err)
	}
	f := analytic(func(x []float64) float64 { return x[0] + 0.5*x[1] + x[2] + x[3] })
	best := math.Inf(-1)
	rng := rand.New(rand.NewPCG(3, 3))
	for range 20_000 {
		best = max(best, f(Sample(space, rng)))
	}
	for seed := range uint64(10) {
		x, value, err := Maximizer{Space: space}.Maximize(t.Context(), f, nil, rand.New(rand.NewPCG(seed, 2)))
		if err != nil {
			t.Fatal(err)
		}
		if err := space.Check(space.Decode(x)); err != nil {
			t.Fatal(err)
		}
		if value < best-0.01 {
			t.Errorf("seed %d: %v with %g, expected at least the best of 20,000 random designs, %g", seed, space.Decode(x), value, best)
		}
	}
}

// TestSampleWithConstraintsIsUniform compares the mean of samples in a triangle with its centroid.
// The standard error of a mean of 4,000 is 0.0037.
func TestSampleWithConstraintsIsUniform(t *testing.T) {
	space, err := task.NewSpace([]task.Parameter{{Name: "x", Kind: task.Float, Low: 0, High: 1}, {Name: "y", Kind: task.Float, Low: 0, High: 1}}, "x + y <= 1")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	const count = 4000
	mean := [2]float64{}
	for range count {
		for i, u := range Sample(space, rng) {
			mean[i] += u / count
		}
	}
	for i, m := range mean {
		if math.Abs(m-1.0/3) > 0.02 {
			t.Errorf("coordinate %d has the mean %g, expected 1/3", i, m)
		}
	}
}

// Several designs ascend together: each is feasible and settled at the end, and the sum of their
// values is not below that at the start.
func TestAscendOfSeveralDesigns(t *testing.T) {
	space, err := task.NewSpace([]task.Parameter{
		{Name: "m", Kind: task.Categorical, Choices: []string{"a", "b"}},
		{Name: "x", Kind: task.Float, High: 1},
		{Name: "y", Kind: task.Float, High: 1, When: []task.Condition{task.Equals("m", task.ChoiceValue("a"))}},
	}, "x + y <= 1")
	if err != nil {
		t.Fatal(err)
	}
	dim := space.Dim()
	f := several{dim}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		var x []float64
		var floats []int
		for i := range 3 {
			x = append(x, Sample(space, rng)...)
			floats = append(floats, i*dim+2, i*dim+3)
		}
		top, value := Ascend(t.Context(), space, f, x, floats, 60)
		if value < f.Value(x) || f.Value(top) < value-1e-12 {
			t.Errorf("value %g from %g, and %g at the result", value, f.Value(x), f.Value(top))
		}
		for i := range 3 {
			design := top[i*dim : (i+1)*dim]
			settled := append([]float64(nil), design...)
			if !space.Settle(settled) || !slices.Equal(settled, design) {
				t.Errorf("design %d of the result, %v, is not feasible and settled", i, design)
			}
		}
	}
}

// several is the sum of x + y/2 over designs of two choices, x and y.
type several struct{ dim int }

func (s several) Value(x []float64) float64 {
	sum := 0.0
	for i := 0; i < len(x); i += s.dim {
		sum += x[i+2] + x[i+3]/2
	}
	return sum
}

func (s several) Gradient(grad, x []float64) float64 {
	clear(grad)
	for i := 0; i < len(x); i += s.dim {
		grad[i+2], grad[i+3] = 1, 0.5
	}
	return s.Value(x)
}
