package fourier

import (
	"fmt"
	"math"
)

// onStack is the largest number of coordinates for which Gradient allocates no memory.
const onStack = 64

// lanes is the number of partial sums per coordinate in the assembly kernel of the gradient.
const lanes = 4

// Sum is a function over waves. It is immutable and safe for concurrent use.
type Sum struct {
	waves *Waves
	shift []float64 // -φ of each wave, in turns
	minus []float64 // -r of each wave
}

// Sum returns the function with these weights: for each wave the weight of its cosine and then that
// of its sine (length 2·Len). It does not keep the slice. It panics on a wrong length.
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

// Value returns the function at x (length Dim). It panics on a wrong length.
func (s *Sum) Value(x []float64) float64 {
	s.waves.check(x)
	if s.waves.count == 0 {
		return 0
	}
	return value(s, x)
}

// Values fills dst (length n) with the function at n points, which are row-major (length n·Dim).
// The values equal those of Value. It panics on wrong lengths.
func (s *Sum) Values(dst, points []float64) {
	dim := s.waves.dim
	if len(points) != len(dst)*dim {
		panic(fmt.Sprintf("fourier: %d coordinates are not %d points of %d", len(points), len(dst), dim))
	}
	for i := range dst {
		dst[i] = s.Value(points[i*dim : (i+1)*dim])
	}
}

// Gradient fills grad (length Dim) with the gradient at x and returns the value. It panics on a
// wrong length.
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
		// The partial sums lack the factor 2π per turn and the sign.
		grad[k] = -2 * math.Pi * ((p[0] + p[2]) + (p[1] + p[3]))
	}
	return v
}
