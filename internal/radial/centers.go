package radial

import (
	"fmt"
	"slices"
)

const (
	onStack = 64  // largest number of coordinates for which no memory is allocated
	chunk   = 128 // number of centers that are evaluated together
)

// Centers is a set of points with a kernel and its lengthscales. It is immutable and safe for
// concurrent use.
type Centers struct {
	kernel  string
	inverse []float64   // 1/lengthscale of each coordinate
	scaled  [][]float64 // for each coordinate, its value at every center in units of its lengthscale
}

// NewCenters returns centers at the given points. inverse holds 1/lengthscale of each coordinate.
// Both are copied. NewCenters panics if a point has another number of coordinates, and on an
// unknown kernel.
func NewCenters(kernel string, inverse []float64, points [][]float64) *Centers {
	Evaluate(kernel, 0) // panics if the kernel is unknown
	c := &Centers{kernel: kernel, inverse: slices.Clone(inverse), scaled: make([][]float64, len(inverse))}
	for k := range c.scaled {
		c.scaled[k] = make([]float64, 0, len(points))
	}
	return c.Append(points)
}

// Append returns centers with further points after the existing ones. c does not change.
func (c *Centers) Append(points [][]float64) *Centers {
	next := &Centers{kernel: c.kernel, inverse: c.inverse, scaled: make([][]float64, len(c.scaled))}
	for k, row := range c.scaled {
		next.scaled[k] = slices.Grow(slices.Clip(row), len(points))
	}
	for _, x := range points {
		c.check(x)
		for k, v := range x {
			next.scaled[k] = append(next.scaled[k], v*c.inverse[k])
		}
	}
	return next
}

// Len returns the number of centers.
func (c *Centers) Len() int { return len(c.scaled[0]) }

// Dim returns the number of coordinates.
func (c *Centers) Dim() int { return len(c.inverse) }

// Kernel fills dst (length Len) with the kernel between x (length Dim) and every center. It panics
// on a wrong length.
func (c *Centers) Kernel(dst, x []float64) {
	if len(dst) != c.Len() {
		panic(fmt.Sprintf("radial: room for %d values of %d centers", len(dst), c.Len()))
	}
	var few [onStack]float64
	scaled := c.scale(few[:], x)
	var k, slope [chunk]float64
	for first := 0; first < c.Len(); first += chunk {
		n := c.part(k[:], slope[:], scaled, first)
		copy(dst[first:], k[:n])
	}
}

// Slopes fills k and slope (length Len) with the kernel and its slope between x (length Dim) and every
// center. It is for several sums over the same centers, whose values are inner products with k. It panics on
// a wrong length.
func (c *Centers) Slopes(k, slope, x []float64) {
	if len(k) != c.Len() || len(slope) != c.Len() {
		panic(fmt.Sprintf("radial: room for %d values and %d slopes of %d centers", len(k), len(slope), c.Len()))
	}
	var few [onStack]float64
	scaled := c.scale(few[:], x)
	for first := 0; first < c.Len(); first += chunk {
		c.part(k[first:], slope[first:], scaled, first)
	}
}

// Gradient fills grad (length Dim) with the gradient at x of a sum. pulls (length Len) holds the sum's
// weights times the slopes of Slopes at x.
func (c *Centers) Gradient(grad, pulls, x []float64) {
	c.check(grad)
	total := 0.0
	for _, pull := range pulls {
		total += pull
	}
	for i, row := range c.scaled {
		grad[i] = c.inverse[i] * (dot(pulls, row) - x[i]*c.inverse[i]*total)
	}
}

// scale returns x in units of the lengthscales. It uses the memory of room if that is long enough.
func (c *Centers) scale(room, x []float64) []float64 {
	c.check(x)
	if len(x) > len(room) {
		room = make([]float64, len(x))
	}
	for i, v := range x {
		room[i] = v * c.inverse[i]
	}
	return room[:len(x)]
}

// part evaluates the kernel and its slope between a scaled point and up to chunk centers, starting
// with center first. It returns the number of these centers.
func (c *Centers) part(k, slope, scaled []float64, first int) int {
	n := min(chunk, c.Len()-first)
	clear(k[:n])
	for i, at := range scaled {
		AddSquares(k[:n], c.scaled[i][first:first+n], at)
	}
	EvaluateAll(c.kernel, k[:n], slope[:n], k[:n])
	return n
}

func (c *Centers) check(x []float64) {
	if len(x) != len(c.inverse) {
		panic(fmt.Sprintf("radial: point of %d coordinates: the centers have %d", len(x), len(c.inverse)))
	}
}
