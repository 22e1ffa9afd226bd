package acquisition

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
)

// concave is -½(x-top)ᵀA(x-top) with A positive definite.
type concave struct {
	a   [][]float64
	top []float64
}

func (c concave) Gradient(grad, x []float64) float64 {
	value := 0.0
	for i, row := range c.a {
		grad[i] = 0
		for j, v := range row {
			grad[i] -= v * (x[j] - c.top[j])
		}
		value += 0.5 * grad[i] * (x[i] - c.top[i])
	}
	return value
}

func (c concave) Value(x []float64) float64 { return c.Gradient(make([]float64, len(x)), x) }

func drawConcave(rt *rapid.T) (c concave, x []float64) {
	rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
	dim := rapid.IntRange(1, 12).Draw(rt, "dim")
	b := make([][]float64, dim)
	c.a, c.top, x = make([][]float64, dim), make([]float64, dim), make([]float64, dim)
	for i := range b {
		b[i], c.a[i] = make([]float64, dim), make([]float64, dim)
		for j := range b[i] {
			b[i][j] = rng.NormFloat64()
		}
		c.top[i], x[i] = 2*rng.Float64()-0.5, rng.Float64()
	}
	for i := range c.a {
		for j := range c.a {
			for k := range b {
				c.a[i][j] += b[k][i] * b[k][j]
			}
		}
		c.a[i][i] += 0.1
	}
	return c, x
}

// At its end the ascent of a concave function is at the maximum over the cube:
// inside the gradient vanishes, on a bound it points out. What is left of it is
// of the order of the root of the least gain.
func TestAscentEndsAtTheMaximum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, x := drawConcave(rt)
		floats := make([]int, len(x))
		for i := range floats {
			floats[i] = i
		}
		a := newAscent(floats, len(x))
		a.start(x, f.Value(x))
		a.climb(f, 500)
		if !a.settled {
			rt.Fatal("still climbing after 500 gradients")
		}
		grad := make([]float64, len(x))
		if value := f.Gradient(grad, a.x); value != a.value {
			rt.Fatalf("value %g, the function's is %g", a.value, value)
		}
		for i, g := range grad {
			moved := clamp(a.x[i]+g) - a.x[i]
			if a.x[i] < 0 || a.x[i] > 1 || math.Abs(moved) > 1e-2 {
				rt.Fatalf("at %v the gradient is %v", a.x, grad)
			}
		}
	})
}

// Interrupted after any number of gradients, an ascent has not lost anything, and
// only the given coordinates have moved.
func TestAscentNeverFalls(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		f := wave(rng, 4, rapid.Bool().Draw(rt, "holes"))
		x := []float64{rng.Float64(), rng.Float64(), 0, 1}
		a := newAscent([]int{0, 2}, 4)
		last := finite(f.Value(x))
		a.start(x, last)
		for range 20 {
			a.climb(f, rapid.IntRange(1, 5).Draw(rt, "gradients"))
			if a.value < last || finite(f.Value(a.x)) != a.value {
				rt.Fatalf("from %g to %g; the function is %g", last, a.value, f.Value(a.x))
			}
			last = a.value
		}
		if a.x[1] != x[1] || a.x[3] != x[3] {
			rt.Fatalf("from %v to %v: another coordinate has moved", x, a.x)
		}
	})
}

// In a ridge of condition 10,000 the remembered pairs pay: by the gradient alone
// this takes thousands of steps.
func TestAscentFollowsARidge(t *testing.T) {
	f := concave{a: [][]float64{{1e4, -1e4 + 1}, {-1e4 + 1, 1e4}}, top: []float64{0.8, 0.7}}
	a := newAscent([]int{0, 1}, 2)
	a.start([]float64{0.1, 0.2}, f.Value([]float64{0.1, 0.2}))
	a.climb(f, 40)
	if a.value < -1e-8 {
		t.Errorf("after 40 gradients at %v with %g, the maximum is 0", a.x, a.value)
	}
}
