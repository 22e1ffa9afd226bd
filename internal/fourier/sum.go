package fourier

import (
	"fmt"
	"math"
)

// onStack is the largest number of coordinates for which a gradient allocates nothing.
const onStack = 64

// lanes is the number of partial sums per coordinate in the gradient's kernel.
const lanes = 4

// Sum is a function over waves. It is immutable and safe for concurrent use.
type Sum struct {
	waves *Waves
	shift []float64 // -φ in turns, per wave
	minus []float64 // -r, per wave
}

// Sum returns the function with these weights: of the cosine and the sine of
// each wave in turn (length 2·Len, not kept). Panics on a wrong length.
func (w *Waves) Sum(weights []float64) *Sum {
	if len(weights) != 2*w.count {
		panic(fmt.Sprintf("fourier: %d weights for %d waves, two each are needed", len(weights), w.count))
	}
	s := &Sum{waves: w, shift: make([]float64, w.blocks()*block), minus: make([]float64, w.blocks()*block)}
	for i := range w.count {
		a, b := weights[2*i], weights[2*i+1]
		s.shift[i] = -math.Atan2(b, a) / (2 * math.Pi)
		s.minus[i] = -math.Hypot(a, b)
	}
	return s
}

// Value returns the function at x (length Dim). Panics on a wrong length.
func (s *Sum) Value(x []float64) float64 {
	s.waves.check(x)
	if s.waves.count == 0 {
		return 0
	}
	return value(s, x)
}

// Values fills dst (length n) with the function at n points, row-major in points
// (length n·Dim): the same as n calls of Value. Panics on wrong lengths.
func (s *Sum) Values(dst, points []float64) {
	dim := s.waves.dim
	if len(points) != len(dst)*dim {
		panic(fmt.Sprintf("fourier: %d coordinates are not %d points of %d", len(points), len(dst), dim))
	}
	for i := range dst {
		dst[i] = s.Value(points[i*dim : (i+1)*dim])
	}
}

// Gradient fills grad (length Dim) with the gradient at x and returns the value.
// Panics on a wrong length.
func (s *Sum) Gradient(grad, x []float64) float64 {
	s.waves.check(x)
	s.waves.check(grad)
	clear(grad)
	if s.waves.count == 0 {
		return 0
	}
	var few [onStack * lanes]float64
	partial := few[:]
	if len(x) > onStack {
		partial = make([]float64, len(x)*lanes)
	}
	partial = partial[:len(x)*lanes]
	v := gradient(s, partial, x)
	for k := range grad {
		p := partial[k*lanes : (k+1)*lanes]
		// The kernel omits the factor 2π per turn and the sign.
		grad[k] = -2 * math.Pi * ((p[0] + p[2]) + (p[1] + p[3]))
	}
	return v
}
