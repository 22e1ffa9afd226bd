package rff

import (
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/fourier"
)

// onStack is the largest number of coordinates for which the gradient of a function of
// the basis RandomPhase allocates no memory.
const onStack = 64

// Function is the function x -> phi(x)·w. It is immutable and safe for
// concurrent use.
type Function struct {
	m      *Map
	level  float64      // contribution of the constant feature
	sum    *fourier.Sum // the function itself, or its numerator in the basis RandomPhase
	square *fourier.Sum // that of the Map
}

// Function returns the function with weights w (length M), of which it keeps a copy. It panics on a
// wrong length.
func (m *Map) Function(w []float64) *Function {
	if len(w) != m.features {
		panic(fmt.Sprintf("rff: %d weights: the map has %d features", len(w), m.features))
	}
	level := 0.0
	if m.varying < m.features {
		level = m.constant * w[m.varying]
		w = w[:m.varying]
	}
	s := m.derived()
	if s.phases != nil {
		return &Function{m: m, level: level, sum: s.numerator(w), square: s.square}
	}
	scaled := make([]float64, len(w))
	for i, v := range w {
		scaled[i] = m.amplitude * v
	}
	return &Function{m: m, level: level, sum: s.waves.Sum(scaled)}
}

// Value returns phi(x)·w for x of length d.
func (f *Function) Value(x []float64) float64 {
	f.m.checkLengths("features", f.m.features, x)
	value := f.sum.Value(x)
	if f.square != nil {
		value /= math.Sqrt(f.m.squareOf(f.square.Value(x)))
	}
	return f.level + value
}

// Values fills dst (length n) with the values of the function at n points, which are row-major
// (length n·d). It panics on wrong lengths.
func (f *Function) Values(dst, points []float64) {
	dim := f.m.dim
	if len(points) != len(dst)*dim {
		panic(fmt.Sprintf("rff: %d coordinates: %d points of %d are needed", len(points), len(dst), dim))
	}
	f.sum.Values(dst, points)
	for i := range dst {
		if f.square != nil {
			dst[i] /= math.Sqrt(f.m.squareOf(f.square.Value(points[i*dim : (i+1)*dim])))
		}
		dst[i] += f.level
	}
}

// Gradient fills grad (length d) with the gradient at x and returns the value.
func (f *Function) Gradient(grad, x []float64) float64 {
	f.m.checkLengths("features", f.m.features, x)
	grad = grad[:f.m.dim]
	value := f.sum.Gradient(grad, x)
	if f.square == nil {
		return f.level + value
	}
	var few [onStack]float64
	inner := few[:]
	if len(grad) > onStack {
		inner = make([]float64, len(grad))
	}
	inner = inner[:len(grad)]
	square := f.m.squareOf(f.square.Gradient(inner, x))
	norm := math.Sqrt(square)
	for k, g := range inner {
		grad[k] = (grad[k] - value/(2*square)*g) / norm
	}
	return f.level + value/norm
}
