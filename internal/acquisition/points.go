package acquisition

import (
	"context"
	"math"
)

// chunk is the number of points that are scored together. It does not depend on the number of
// workers, so that a Batch gets the same chunks for any number.
const chunk = 32

// points are encoded designs, one row after the other, with their values.
type points struct {
	dim    int
	x      []float64
	values []float64 // NaN has become -Inf
}

func newPoints(count, dim int) *points {
	return &points{dim: dim, x: make([]float64, count*dim), values: make([]float64, count)}
}

func (p points) row(i int) []float64 { return p.x[i*p.dim : (i+1)*p.dim : (i+1)*p.dim] }

// first returns the first count points, in the same memory.
func (p points) first(count int) points {
	return points{p.dim, p.x[:count*p.dim], p.values[:count]}
}

// score evaluates all points, unless ctx ends before.
func (p points) score(ctx context.Context, f Function, workers int) {
	chunks := (len(p.values) + chunk - 1) / chunk
	if workers == 1 { // without a closure there is nothing to allocate
		for i := 0; i < chunks && ctx.Err() == nil; i++ {
			p.scoreChunk(f, i)
		}
		return
	}
	each(ctx, workers, chunks, func(i int) { p.scoreChunk(f, i) })
}

func (p points) scoreChunk(f Function, i int) {
	from, to := i*chunk, min((i+1)*chunk, len(p.values))
	evaluate(f, p.values[from:to], p.x[from*p.dim:to*p.dim])
	for j := from; j < to; j++ {
		p.values[j] = finite(p.values[j])
	}
}

// best returns the index of the largest value, the first of equals.
func (p points) best() int {
	best := 0
	for i, value := range p.values {
		if value > p.values[best] {
			best = i
		}
	}
	return best
}

func finite(value float64) float64 {
	if math.IsNaN(value) {
		return math.Inf(-1)
	}
	return value
}
