package radial

import (
	"fmt"
	"slices"
)

// Sum is a function over centers. It is immutable and safe for concurrent use.
type Sum struct {
	centers *Centers
	weights []float64
}

// Sum returns the function with these weights, one per center, which it copies. It panics on a
// wrong length.
func (c *Centers) Sum(weights []float64) *Sum {
	if len(weights) != c.Len() {
		panic(fmt.Sprintf("radial: %d weights for %d centers", len(weights), c.Len()))
	}
	return &Sum{centers: c, weights: slices.Clone(weights)}
}

// Weights returns the weights. The caller must not change them.
func (s *Sum) Weights() []float64 { return s.weights }

// Value returns the function at x (length Dim). It panics on a wrong length.
func (s *Sum) Value(x []float64) float64 {
	c := s.centers
	var few [onStack]float64
	scaled := c.scale(few[:], x)
	var k, slope [chunk]float64
	value := 0.0
	for first := 0; first < c.Len(); first += chunk {
		n := c.part(k[:], slope[:], scaled, first)
		value += dot(s.weights[first:first+n], k[:n])
	}
	return value
}

// Values fills dst (length n) with the function at n points, which are row-major (length n·Dim).
// The values equal those of Value. It panics on wrong lengths.
func (s *Sum) Values(dst, points []float64) {
	dim := s.centers.Dim()
	if len(points) != len(dst)*dim {
		panic(fmt.Sprintf("radial: %d coordinates are not %d points of %d", len(points), len(dst), dim))
	}
	for i := range dst {
		dst[i] = s.Value(points[i*dim : (i+1)*dim])
	}
}

// Gradient fills grad (length Dim) with the gradient at x and returns the value. It panics on a
// wrong length.
func (s *Sum) Gradient(grad, x []float64) float64 {
	c := s.centers
	c.check(grad)
	clear(grad)
	var few [onStack]float64
	scaled := c.scale(few[:], x)
	var k, slope [chunk]float64
	value := 0.0
	for first := 0; first < c.Len(); first += chunk {
		n := c.part(k[:], slope[:], scaled, first)
		weights := s.weights[first : first+n]
		value += dot(weights, k[:n])
		total := 0.0
		for j, u := range weights {
			slope[j] *= u
			total += slope[j]
		}
		for i := range grad {
			grad[i] += dot(slope[:n], c.scaled[i][first:first+n]) - scaled[i]*total
		}
	}
	for i, inverse := range c.inverse {
		grad[i] *= inverse
	}
	return value
}
