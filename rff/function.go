package rff

import "math"

// Function is the function x -> phi(x)·w. It is immutable and safe for
// concurrent use.
type Function struct {
	m *Map
	w []float64
}

// Function returns the function with weights w (length M, copied). Panics on a
// wrong length.
func (m *Map) Function(w []float64) *Function {
	if len(w) != m.features {
		m.checkLengths("weights", len(w), nil)
	}
	return &Function{m: m, w: append([]float64(nil), w...)}
}

// Value returns phi(x)·w; x has length d.
func (f *Function) Value(x []float64) float64 {
	f.m.checkLengths("weights", len(f.w), x)
	sum := 0.0
	for i := range f.m.features / 2 {
		sin, cos := math.Sincos(f.m.phase(i, x))
		sum += f.w[2*i]*cos + f.w[2*i+1]*sin
	}
	return f.m.amplitude * sum
}

// Gradient fills grad (length d) with the gradient at x and returns the value.
func (f *Function) Gradient(grad, x []float64) float64 {
	f.m.checkLengths("weights", len(f.w), x)
	dim := f.m.dim
	grad = grad[:dim]
	clear(grad)
	sum := 0.0
	for i := range f.m.features / 2 {
		sin, cos := math.Sincos(f.m.phase(i, x))
		a, b := f.w[2*i], f.w[2*i+1]
		sum += a*cos + b*sin
		slope := f.m.amplitude * (b*cos - a*sin)
		for k, s := range f.m.frequencies[i*dim : (i+1)*dim] {
			grad[k] += slope * s
		}
	}
	return f.m.amplitude * sum
}
