package radial

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var kernels = []string{Matern52, SE}

func points(rng *rand.Rand, count, dim int) [][]float64 {
	all := make([][]float64, count)
	for i := range all {
		all[i] = make([]float64, dim)
		for k := range all[i] {
			all[i][k] = rng.Float64()
		}
	}
	return all
}

// Vectors and single squares must agree, from equal points to far ones, whatever
// the length.
func TestEvaluateAllIsEvaluate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kernel := rapid.SampledFrom(kernels).Draw(rt, "kernel")
		squares := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 4), rapid.Float64Range(0, 900), rapid.Just(0.0)), 0, 40).Draw(rt, "squares")
		k, slope := slices.Clone(squares), make([]float64, len(squares))
		EvaluateAll(kernel, k, slope, k)
		for i, square := range squares {
			wantK, wantSlope := Evaluate(kernel, square)
			if math.Abs(k[i]-wantK) > 1e-14*wantK+1e-300 || math.Abs(slope[i]-wantSlope) > 1e-14*wantSlope+1e-300 {
				rt.Fatalf("square %g: %g and %g, one by one %g and %g", square, k[i], slope[i], wantK, wantSlope)
			}
		}
	})
}

func TestEvaluateAllAtTheEnds(t *testing.T) {
	for _, kernel := range kernels {
		squares := []float64{0, 1e-300, 1e6, 1e300, math.Inf(1), math.NaN(), 1, 2}
		k, slope := make([]float64, len(squares)), make([]float64, len(squares))
		EvaluateAll(kernel, k, slope, squares)
		if math.Abs(k[0]-1) > 1e-15 || math.Abs(k[1]-1) > 1e-15 {
			t.Errorf("%s: %g and %g where the distance is nothing", kernel, k[0], k[1])
		}
		for _, i := range []int{2, 3} {
			if k[i] > 1e-100 || k[i] < 0 || slope[i] > 1e-100 || slope[i] < 0 {
				t.Errorf("%s: %g with slope %g at square %g", kernel, k[i], slope[i], squares[i])
			}
		}
		if !math.IsNaN(k[5]) {
			t.Errorf("%s: NaN became %g", kernel, k[5])
		}
	}
}

// direct is the definition.
func direct(kernel string, lengthscales []float64, centers [][]float64, weights, grad, x []float64) (value float64) {
	clear(grad)
	for j, c := range centers {
		square := 0.0
		for i, l := range lengthscales {
			square += (x[i] - c[i]) * (x[i] - c[i]) / (l * l)
		}
		k, slope := Evaluate(kernel, square)
		value += weights[j] * k
		for i, l := range lengthscales {
			grad[i] -= weights[j] * slope * (x[i] - c[i]) / (l * l)
		}
	}
	return value
}

func TestSumIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		kernel := rapid.SampledFrom(kernels).Draw(rt, "kernel")
		dim := rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(60, 70)).Draw(rt, "d")
		centers := points(rng, rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(120, 300)).Draw(rt, "t"), dim)
		lengthscales, inverse := make([]float64, dim), make([]float64, dim)
		for i := range lengthscales {
			lengthscales[i] = 0.05 + 2*rng.Float64()
			inverse[i] = 1 / lengthscales[i]
		}
		weights, size := make([]float64, len(centers)), 0.0
		for j := range weights {
			weights[j] = rng.NormFloat64()
			size += math.Abs(weights[j])
		}
		first := rapid.IntRange(0, len(centers)).Draw(rt, "appended from")
		c := NewCenters(kernel, inverse, centers[:first]).Append(centers[first:])
		s := c.Sum(weights)
		x := points(rng, 1, dim)[0]
		if rapid.Bool().Draw(rt, "at a center") {
			copy(x, centers[rng.IntN(len(centers))])
		}
		want, grad := make([]float64, dim), make([]float64, dim)
		value := direct(kernel, lengthscales, centers, weights, want, x)
		if got := s.Value(x); math.Abs(got-value) > 1e-13*size {
			rt.Fatalf("value %g, by definition %g", got, value)
		}
		if got := s.Gradient(grad, x); math.Abs(got-value) > 1e-13*size {
			rt.Fatalf("value with gradient %g, by definition %g", got, value)
		}
		for i := range grad {
			if math.Abs(grad[i]-want[i]) > 1e-12*size*inverse[i]*inverse[i] {
				rt.Fatalf("gradient %d is %g, by definition %g", i, grad[i], want[i])
			}
		}
		dst := make([]float64, 2)
		s.Values(dst, append(slices.Clone(x), x...))
		if dst[0] != s.Value(x) || dst[1] != dst[0] {
			rt.Fatalf("%v together, %g alone", dst, s.Value(x))
		}
		k := make([]float64, c.Len())
		c.Kernel(k, x)
		if got := dot(k, weights); math.Abs(got-value) > 1e-13*size {
			rt.Fatalf("kernels and weights give %g, by definition %g", got, value)
		}
	})
}

// Two sets grown from one must not share what they add.
func TestAppendLeavesTheOriginal(t *testing.T) {
	c := NewCenters(SE, []float64{1}, [][]float64{{0}, {1}, {2}})
	a, b := c.Append([][]float64{{3}}), c.Append([][]float64{{4}})
	got := make([]float64, 4)
	a.Kernel(got, []float64{3})
	if got[3] != 1 {
		t.Errorf("kernel with the own center %g", got[3])
	}
	b.Kernel(got, []float64{4})
	if got[3] != 1 || c.Len() != 3 {
		t.Errorf("kernel with the own center %g, %d centers before", got[3], c.Len())
	}
}

func TestCentersPanicOnWrongUse(t *testing.T) {
	c := NewCenters(SE, []float64{1, 1}, [][]float64{{0, 0}})
	for name, call := range map[string]func(){
		"kernel":      func() { NewCenters("cosine", []float64{1}, nil) },
		"all":         func() { EvaluateAll("cosine", nil, nil, nil) },
		"center":      func() { c.Append([][]float64{{1}}) },
		"weights":     func() { c.Sum(nil) },
		"point":       func() { c.Sum([]float64{1}).Value([]float64{1}) },
		"gradient":    func() { c.Sum([]float64{1}).Gradient([]float64{1}, []float64{1, 2}) },
		"points":      func() { c.Sum([]float64{1}).Values([]float64{1}, []float64{1}) },
		"destination": func() { c.Kernel(nil, []float64{1, 2}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			call()
		}()
	}
}

func TestNothingIsAllocated(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	c := NewCenters(Matern52, slices.Repeat([]float64{2}, 20), points(rng, 300, 20))
	s := c.Sum(make([]float64, 300))
	x, grad, k := points(rng, 1, 20)[0], make([]float64, 20), make([]float64, 300)
	if n := testing.AllocsPerRun(100, func() {
		s.Value(x)
		s.Gradient(grad, x)
		c.Kernel(k, x)
	}); n != 0 {
		t.Errorf("%g allocations per evaluation", n)
	}
}

// BenchmarkValue and BenchmarkGradient compare the package with the definition.
func BenchmarkValue(b *testing.B) {
	benchmark(b, func(s *Sum, _, x []float64) float64 { return s.Value(x) })
}

func BenchmarkGradient(b *testing.B) {
	benchmark(b, func(s *Sum, grad, x []float64) float64 { return s.Gradient(grad, x) })
}

func benchmark(b *testing.B, evaluate func(s *Sum, grad, x []float64) float64) {
	for _, kernel := range kernels {
		for _, t := range []int{20, 100, 500} {
			for _, dim := range []int{2, 6, 20} {
				rng := rand.New(rand.NewPCG(9, 10))
				centers, weights := points(rng, t, dim), make([]float64, t)
				x, grad, ones := points(rng, 1, dim)[0], make([]float64, dim), slices.Repeat([]float64{1}, dim)
				s := NewCenters(kernel, ones, centers).Sum(weights)
				for name, f := range map[string]func() float64{
					"as-built":   func() float64 { return evaluate(s, grad, x) },
					"definition": func() float64 { return direct(kernel, ones, centers, weights, grad, x) },
				} {
					b.Run(fmt.Sprintf("%s/t=%d/d=%d/%s", kernel, t, dim, name), func(b *testing.B) {
						sum := 0.0
						for b.Loop() {
							sum += f()
						}
						runtime.KeepAlive(sum)
					})
				}
			}
		}
	}
}
