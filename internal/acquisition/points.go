package acquisition

import (
	"context"
	"math"
)

// chunk is the number of points that are evaluated together. It does not depend on the number of
// workers, so that the results of a Batch do not either.
const chunk = 32

// points holds encoded designs, one row after the other, with their values.
type points struct {
	dim    int
	x      []float64
	values []float64 // NaN is stored as -Inf
}

func newPoints(count, dim int) *points {
	return &points{dim: dim, x: make([]float64, count*dim), values: make([]float64, count)}
}

func (p points) row(i int) []float64 { return p.x[i*p.dim : (i+1)*p.dim : (i+1)*p.dim] }

// first returns the first count points; the result shares the memory of p.
func (p points) first(count int) points {
	return points{p.dim, p.x[:count*p.dim], p.values[:count]}
}

// score evaluates f at all points and sets their values. It stops early if ctx ends.
func (p points) score(ctx context.Context, f Function, workers int) {
	chunks := (len(p.values) + chunk - 1) / chunk
	if workers == 1 { // this path has no closure and allocates nothing
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

// best returns the index of the largest value; of equal values, the first.
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
