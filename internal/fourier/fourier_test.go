package fourier

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"

	"pgregory.net/rapid"
)

// problem is a random sum with what it was made of.
type problem struct {
	dim         int
	frequencies []float64
	weights     []float64
	sum         *Sum
	r           float64 // Σ r_i, what the error is measured by
}

func newProblem(rng *rand.Rand, dim, count int, scale float64) problem {
	p := problem{dim: dim, frequencies: make([]float64, dim*count), weights: make([]float64, 2*count)}
	for i := range p.frequencies {
		p.frequencies[i] = scale * rng.NormFloat64()
	}
	for i := range p.weights {
		p.weights[i] = rng.NormFloat64()
	}
	for i := range count {
		p.r += math.Hypot(p.weights[2*i], p.weights[2*i+1])
	}
	p.sum = NewWaves(dim, p.frequencies).Sum(p.weights)
	return p
}

func (p problem) point(rng *rand.Rand) []float64 {
	x := make([]float64, p.dim)
	for k := range x {
		x[k] = rng.Float64()
	}
	return x
}

// direct is the definition, and the largest angle that occurs.
func (p problem) direct(grad, x []float64) (value, angle float64) {
	clear(grad)
	for i := range len(p.weights) / 2 {
		phase, size := 0.0, 0.0
		row := p.frequencies[i*p.dim : (i+1)*p.dim]
		for k, s := range row {
			phase += s * x[k]
			size += math.Abs(s * x[k])
		}
		sin, cos := math.Sincos(phase)
		a, b := p.weights[2*i], p.weights[2*i+1]
		value += a*cos + b*sin
		for k, s := range row {
			grad[k] += (b*cos - a*sin) * s
		}
		angle = max(angle, size)
	}
	return value, angle
}

// tolerance is the stated error with room for the rounding of the reference.
func tolerance(angle float64) float64 { return (4 + angle) * 2e-15 }

// kernels are both ways to evaluate, on processors that have both.
var kernels = map[string]struct {
	value    func(s *Sum, x []float64) float64
	gradient func(s *Sum, partial, x []float64) float64
}{
	"as built": {value, gradient},
	"portable": {portableValue, portableGradient},
}

func TestSumIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		dim := rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(9, 130)).Draw(rt, "d")
		count := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(21, 300)).Draw(rt, "waves")
		p := newProblem(rng, dim, count, math.Pow(10, rapid.Float64Range(-3, 4).Draw(rt, "scale")))
		x := p.point(rng)
		want := make([]float64, dim)
		value, angle := p.direct(want, x)
		grad := make([]float64, dim)
		got := p.sum.Gradient(grad, x)
		bound := p.r * tolerance(angle)
		if math.Abs(got-value) > bound {
			rt.Fatalf("value with gradient %g, by definition %g", got, value)
		}
		if v := p.sum.Value(x); math.Abs(v-value) > bound {
			rt.Fatalf("value %g, by definition %g", v, value)
		}
		largest := 0.0
		for _, s := range p.frequencies {
			largest = max(largest, math.Abs(s))
		}
		for k := range grad {
			if math.Abs(grad[k]-want[k]) > bound*largest {
				rt.Fatalf("gradient %d is %g, by definition %g", k, grad[k], want[k])
			}
		}
		if v := portableValue(p.sum, x); math.Abs(v-value) > bound {
			rt.Fatalf("portable value %g, by definition %g", v, value)
		}
	})
}

func TestValuesAreValues(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		p := newProblem(rng, rapid.IntRange(1, 20).Draw(rt, "d"), rapid.IntRange(1, 60).Draw(rt, "waves"), 3)
		n := rapid.IntRange(0, 20).Draw(rt, "n")
		var points []float64
		for range n {
			points = append(points, p.point(rng)...)
		}
		dst := make([]float64, n)
		p.sum.Values(dst, points)
		for i, got := range dst {
			if want := p.sum.Value(points[i*p.dim : (i+1)*p.dim]); got != want {
				rt.Fatalf("point %d: %g together, %g alone", i, got, want)
			}
		}
	})
}

// One wave, over all angles that can occur, against a cosine in 200 bits. The
// angle itself is rounded when it is computed, which is the part of the error
// that grows with it.
func TestWaveAccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, kernel := range kernels {
		worst := 0.0
		for range 20000 {
			angle := math.Pow(10, -6+14*rng.Float64())
			if rng.IntN(2) == 0 {
				angle = -angle
			}
			x := rng.Float64()
			s := NewWaves(1, []float64{angle}).Sum([]float64{1, 0})
			got := kernel.value(s, []float64{x})
			want := preciseCosine(angle, x)
			relative := math.Abs(got-want) / (2 + math.Abs(angle*x)/3)
			worst = max(worst, relative)
		}
		t.Logf("%s: at most %.2g per (2 + |angle|/3)", name, worst)
		if worst > 1e-15 {
			t.Errorf("%s: the error is %g per (2 + |angle|/3), stated is 1e-15", name, worst)
		}
	}
}

// preciseCosine is cos(angle·x) of exactly these numbers, to more than double
// precision: the product is reduced in 300 bits.
func preciseCosine(angle, x float64) float64 {
	const bits = 300
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651", 10, bits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	turn := new(big.Float).SetPrec(bits).Mul(big.NewFloat(2), pi)
	product := new(big.Float).SetPrec(bits).Mul(big.NewFloat(angle), big.NewFloat(x))
	turns, _ := new(big.Float).SetPrec(bits).Quo(product, turn).Int(nil)
	rest := product.Sub(product, new(big.Float).SetPrec(bits).Mul(new(big.Float).SetInt(turns), turn))
	reduced, _ := rest.Float64()
	return math.Cos(reduced)
}

func TestFeatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	p := newProblem(rng, 3, 21, 5)
	x, phi := p.point(rng), make([]float64, 42)
	p.sum.waves.Features(phi, x)
	sum := 0.0
	for i, w := range p.weights {
		sum += w * phi[i]
	}
	if want := p.sum.Value(x); math.Abs(sum-want) > 1e-12 {
		t.Errorf("features and weights give %g, the sum %g", sum, want)
	}
	for i := 0; i < len(phi); i += 2 {
		if norm := phi[i]*phi[i] + phi[i+1]*phi[i+1]; math.Abs(norm-1) > 1e-14 {
			t.Errorf("wave %d: cos² + sin² = %g", i/2, norm)
		}
	}
}

func TestSumOfNotFinitePoints(t *testing.T) {
	p := newProblem(rand.New(rand.NewPCG(5, 6)), 2, 9, 1)
	for name, x := range map[string][]float64{"NaN": {math.NaN(), 0}, "infinite": {0, math.Inf(1)}} {
		for kernel, k := range kernels {
			if v := k.value(p.sum, x); !math.IsNaN(v) {
				t.Errorf("%s, %s: %g", name, kernel, v)
			}
			if v := k.gradient(p.sum, make([]float64, 2*lanes), x); !math.IsNaN(v) {
				t.Errorf("%s, %s: %g with gradient", name, kernel, v)
			}
		}
	}
}

func TestEmptyAndWrongLengths(t *testing.T) {
	empty := NewWaves(2, nil).Sum(nil)
	grad := []float64{1, 1}
	if v := empty.Gradient(grad, []float64{0, 0}); v != 0 || grad[0] != 0 || empty.Value(grad) != 0 {
		t.Errorf("the empty sum is %g with gradient %v", v, grad)
	}
	s := NewWaves(2, make([]float64, 6)).Sum(make([]float64, 6))
	for name, call := range map[string]func(){
		"point":       func() { s.Value([]float64{1}) },
		"gradient":    func() { s.Gradient(make([]float64, 3), make([]float64, 2)) },
		"points":      func() { s.Values(make([]float64, 2), make([]float64, 3)) },
		"weights":     func() { s.waves.Sum(make([]float64, 5)) },
		"frequencies": func() { NewWaves(2, make([]float64, 3)) },
		"features":    func() { s.waves.Features(make([]float64, 5), make([]float64, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: a wrong length was accepted", name)
				}
			}()
			call()
		}()
	}
}

func TestNothingIsAllocated(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	p := newProblem(rng, 20, 100, 1)
	x, grad, dst := p.point(rng), make([]float64, 20), make([]float64, 1)
	if n := testing.AllocsPerRun(100, func() {
		p.sum.Value(x)
		p.sum.Gradient(grad, x)
		p.sum.Values(dst, x)
	}); n != 0 {
		t.Errorf("%g allocations per evaluation", n)
	}
}

// BenchmarkValue and BenchmarkGradient compare the kernel as built, the portable
// one and the definition with math.Sincos.
func BenchmarkValue(b *testing.B) {
	benchmark(b, map[string]func(p problem, grad, x []float64) float64{
		"as-built": func(p problem, _, x []float64) float64 { return value(p.sum, x) },
		"portable": func(p problem, _, x []float64) float64 { return portableValue(p.sum, x) },
		"math":     func(p problem, grad, x []float64) float64 { return p.sincos(x) },
	})
}

func BenchmarkGradient(b *testing.B) {
	benchmark(b, map[string]func(p problem, grad, x []float64) float64{
		"as-built": func(p problem, grad, x []float64) float64 { return p.sum.Gradient(grad, x) },
		"portable": func(p problem, grad, x []float64) float64 {
			return portableGradient(p.sum, make([]float64, len(x)*lanes), x)
		},
		"math": func(p problem, grad, x []float64) float64 { v, _ := p.direct(grad, x); return v },
	})
}

// sincos is the loop that everybody writes first.
func (p problem) sincos(x []float64) (value float64) {
	for i := range len(p.weights) / 2 {
		phase := 0.0
		for k, s := range p.frequencies[i*p.dim : (i+1)*p.dim] {
			phase += s * x[k]
		}
		sin, cos := math.Sincos(phase)
		value += p.weights[2*i]*cos + p.weights[2*i+1]*sin
	}
	return value
}

func benchmark(b *testing.B, run map[string]func(p problem, grad, x []float64) float64) {
	for _, features := range []int{100, 1000} {
		for _, dim := range []int{2, 6, 20} {
			for name, f := range run {
				b.Run(fmt.Sprintf("M=%d/d=%d/%s", features, dim, name), func(b *testing.B) {
					rng := rand.New(rand.NewPCG(9, 10))
					p := newProblem(rng, dim, features/2, 3)
					x, grad := p.point(rng), make([]float64, dim)
					sum := 0.0
					for b.Loop() {
						sum += f(p, grad, x)
					}
					runtime.KeepAlive(sum)
				})
			}
		}
	}
}
