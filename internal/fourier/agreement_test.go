package fourier

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// bound is the largest error of one wave of amplitude 1. Frequencies and products
// are rounded in proportion to themselves, so that what counts is the sum of
// their sizes (angle), not the size of the sum, in which they may cancel. Each
// addition also rounds the phase, half a turn at most; d such errors are
// independent and add up like √d. Measured over 400 waves each at d = 1 to 300,
// the errors stayed below 0.9 of it.
func bound(dim int, angle float64) float64 {
	return (2 + math.Sqrt(float64(dim))/2 + angle/3) * 1e-15
}

// total is the gradient from the kernels' partial sums.
func total(partial []float64, k int) float64 {
	p := partial[k*lanes : (k+1)*lanes]
	return -2 * math.Pi * (p[0] + p[1] + p[2] + p[3])
}

// The two kernels may differ by the errors of both.
func TestKernelsAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		dim := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(60, 70), rapid.IntRange(21, 200)).Draw(rt, "d")
		count := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(21, 1000)).Draw(rt, "waves")
		p := newProblem(rng, dim, count, math.Pow(10, rapid.Float64Range(-3, 4).Draw(rt, "scale")))
		x, scratch := p.point(rng), make([]float64, dim)
		_, angle := p.direct(scratch, x)
		// Adding the waves up rounds as well: at most once per wave.
		room := p.r * (2*bound(dim, angle) + float64(count)*0x1p-52)
		if a, b := value(p.sum, x), portableValue(p.sum, x); math.Abs(a-b) > room {
			rt.Fatalf("values %g and %g differ by more than %g", a, b, room)
		}
		built, portable := make([]float64, dim*lanes), make([]float64, dim*lanes)
		a, b := gradient(p.sum, built, x), portableGradient(p.sum, portable, x)
		if math.Abs(a-b) > room {
			rt.Fatalf("values with gradient %g and %g differ by more than %g", a, b, room)
		}
		largest := 0.0
		for _, s := range p.frequencies {
			largest = max(largest, math.Abs(s))
		}
		for k := range dim {
			if a, b := total(built, k), total(portable, k); math.Abs(a-b) > room*largest {
				rt.Fatalf("gradients %g and %g in coordinate %d differ by more than %g", a, b, k, room*largest)
			}
		}
	})
}

// preciseAngle returns the cosine and the sine of ω·x of exactly these numbers
// and the sum of the sizes of what is added up.
func preciseAngle(omega, x []float64) (cos, sin, size float64) {
	const bits = 400
	exactly := func(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651", 10, bits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	turn := pi.Mul(pi, exactly(2))
	angle := exactly(0)
	for k, v := range x {
		angle.Add(angle, new(big.Float).SetPrec(bits).Mul(exactly(omega[k]), exactly(v)))
		size += math.Abs(omega[k] * v)
	}
	turns, _ := new(big.Float).SetPrec(bits).Quo(angle, turn).Int(nil)
	rest := angle.Sub(angle, turn.Mul(turn, new(big.Float).SetPrec(bits).SetInt(turns)))
	reduced, _ := rest.Float64()
	sin, cos = math.Sincos(reduced)
	return cos, sin, size
}

// One wave of many coordinates, whose parts largely cancel, against 400 bits. The
// other waves of its block have no weight, so that an error of one lane is not
// lost among those of eight.
func TestAccuracyInManyCoordinates(t *testing.T) {
	for _, dim := range []int{2, 6, 20, 300} {
		for _, scale := range []float64{0.01, 1, 100, 1e4, 1e6} {
			rng := rand.New(rand.NewPCG(uint64(dim), math.Float64bits(scale)))
			for round := range 96 {
				p, lane := newProblem(rng, dim, block, scale), round%block
				a, b, omega := p.weights[2*lane], p.weights[2*lane+1], p.frequencies[lane*dim:(lane+1)*dim]
				clear(p.weights)
				p.weights[2*lane], p.weights[2*lane+1] = a, b
				sum, x := NewWaves(dim, p.frequencies).Sum(p.weights), p.point(rng)
				cos, sin, size := preciseAngle(omega, x)
				room := math.Hypot(a, b) * bound(dim, size)
				for name, kernel := range kernels {
					if got, want := kernel.value(sum, x), a*cos+b*sin; math.Abs(got-want) > room {
						t.Fatalf("%s, lane %d, d = %d, frequencies of %g: %g is off by %g, more than %g", name, lane, dim, scale, got, got-want, room)
					}
					partial := make([]float64, dim*lanes)
					kernel.gradient(sum, partial, x)
					for k, s := range omega {
						got, want := total(partial, k), (b*cos-a*sin)*s
						if math.Abs(got-want) > room*math.Abs(s) {
							t.Fatalf("%s, lane %d, d = %d, frequencies of %g: gradient %d is off by %g, more than %g", name, lane, dim, scale, k, got-want, room*math.Abs(s))
						}
					}
				}
			}
		}
	}
}

// One bad coordinate spoils the value and the whole gradient, wherever it is; a
// huge finite one gives some number that a sum of waves can have.
func TestBadCoordinates(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, dim := range []int{1, 2, 7, onStack + 1} {
		p := newProblem(rng, dim, 9, 1)
		for at := range dim {
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308} {
				x, partial := p.point(rng), make([]float64, dim*lanes)
				x[at] = bad
				finite := math.Abs(bad) < math.Inf(1)
				for name, kernel := range kernels {
					clear(partial)
					for _, v := range []float64{kernel.value(p.sum, x), kernel.gradient(p.sum, partial, x)} {
						if math.IsNaN(v) == finite || math.Abs(v) > p.r*(1+1e-12) {
							t.Errorf("%s: coordinate %d of %d is %g: value %g", name, at, dim, bad, v)
						}
					}
					for k := range dim {
						if g := total(partial, k); math.IsNaN(g) == finite {
							t.Errorf("%s: coordinate %d of %d is %g: gradient %d is %g", name, at, dim, bad, k, g)
						}
					}
				}
			}
		}
	}
}

// What the race detector watches: one sum, read by many, gives all the same.
func TestConcurrentUse(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	p := newProblem(rng, onStack+1, 100, 3)
	x, want := p.point(rng), make([]float64, onStack+1)
	value := p.sum.Gradient(want, x)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			grad := make([]float64, len(x))
			for range 50 {
				if p.sum.Gradient(grad, x) != value || grad[0] != want[0] || grad[onStack] != want[onStack] {
					t.Errorf("a gradient differs when computed beside others")
				}
			}
		})
	}
	group.Wait()
}
