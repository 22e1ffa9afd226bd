package optprior

import (
	"math"

	"github.com/fbo-node/fbo/internal/radial"
)

const (
	averagedOnStack = 64    // number of normals for which Average allocates no memory
	maxLevel        = 600.0 // logarithm of the largest constant that is kept as a number
)

// Average is the average of densities. It is immutable and safe for concurrent use.
//
// Most densities are a single normal over numbers that are always active. Average evaluates those together,
// with the kernels of package radial, and the others one by one.
type Average struct {
	layout *Layout
	count  float64    // of all densities
	others []*Mixture // those that are not among the normals

	// The normals. Each is height·exp(-precision·square/2), with the square of the distance.
	heights, precisions []float64
	centres             [][]float64 // for each number, its value at every centre
}

// NewAverage returns the average of densities, of which there must be at least one.
func NewAverage(densities []*Mixture) *Average {
	l := densities[0].layout
	a := &Average{layout: l, count: float64(len(densities)), centres: make([][]float64, len(l.Numbers))}
	for _, m := range densities {
		if len(m.components) != 1 || len(l.Categories) > 0 || l.space != nil || m.components[0].level > maxLevel {
			a.others = append(a.others, m)
			continue
		}
		c := &m.components[0]
		a.heights, a.precisions = append(a.heights, math.Exp(c.level)), append(a.precisions, c.precision)
		for k, i := range l.Numbers {
			a.centres[k] = append(a.centres[k], c.centre[i])
		}
	}
	return a
}

// values fills dst with the densities of the normals at x.
func (a *Average) values(dst, slopes, x []float64) {
	clear(dst)
	for k, i := range a.layout.Numbers {
		radial.AddSquares(dst, a.centres[k], x[i])
	}
	for j, precision := range a.precisions {
		dst[j] *= precision
	}
	radial.EvaluateAll(radial.SE, dst, slopes, dst)
	for j, height := range a.heights {
		dst[j] *= height
	}
}

// room returns the number of normals in both of two slices, in the memory of few if it is long enough.
func (a *Average) room(few *[2 * averagedOnStack]float64) (values, slopes []float64) {
	n := len(a.heights)
	if n > averagedOnStack {
		return make([]float64, n), make([]float64, n)
	}
	return few[:n], few[averagedOnStack : averagedOnStack+n]
}

// Value returns the average at x.
func (a *Average) Value(x []float64) float64 {
	var few [2 * averagedOnStack]float64
	values, slopes := a.room(&few)
	a.values(values, slopes, x)
	total := 0.0
	for _, v := range values {
		total += v
	}
	var each Logs
	for _, m := range a.others {
		total += math.Exp(m.Log(&each, x))
	}
	return total / a.count
}

// Gradient fills grad with the gradient of Value and returns the value.
func (a *Average) Gradient(grad, x []float64) float64 {
	var few [2 * averagedOnStack]float64
	values, slopes := a.room(&few)
	a.values(values, slopes, x)
	clear(grad)
	total, pull := 0.0, 0.0
	for j, v := range values {
		total += v
		values[j] = v * a.precisions[j]
		pull += values[j]
	}
	for k, i := range a.layout.Numbers {
		toward := 0.0
		for j, c := range a.centres[k] {
			toward += values[j] * c
		}
		grad[i] = toward - x[i]*pull
	}
	var each Logs
	for _, m := range a.others {
		log := m.Log(&each, x)
		density := math.Exp(log)
		total += density
		m.AddGradient(grad, x, &each, log, density)
	}
	for i := range grad {
		grad[i] /= a.count
	}
	return total / a.count
}
