package acquisition

import "slices"

// Product returns the product of functions that are nowhere negative, such as EI
// and Feasibility; of none it is 1. (With a negative factor a larger product
// would not be a better one.)
func Product(fs ...Function) Function { return &product{fs: slices.Clone(fs)} }

// Sum returns the sum of functions: for logarithms, as of LogEI and
// LogFeasibility, that is the logarithm of the product. Of none it is 0.
func Sum(fs ...Function) Function { return &sum{fs: slices.Clone(fs)} }

var (
	_ Batch = (*product)(nil)
	_ Batch = (*sum)(nil)
)

type product struct {
	fs     []Function
	memory scratch
}

func (p *product) Value(x []float64) float64 {
	value := 1.0
	for _, f := range p.fs {
		value *= f.Value(x)
	}
	return value
}

func (p *product) Values(dst, points []float64) {
	for i := range dst {
		dst[i] = 1
	}
	held := p.memory.take(len(dst))
	for _, f := range p.fs {
		evaluate(f, *held, points)
		for i, value := range *held {
			dst[i] *= value
		}
	}
	p.memory.put(held)
}

// Gradient keeps, for the factors so far, the product and its gradient: no
// division, so that factors may be 0.
func (p *product) Gradient(grad, x []float64) float64 {
	clear(grad)
	held := p.memory.take(len(x))
	value := 1.0
	for _, f := range p.fs {
		factor := f.Gradient(*held, x)
		for i, slope := range *held {
			grad[i] = grad[i]*factor + value*slope
		}
		value *= factor
	}
	p.memory.put(held)
	return value
}

type sum struct {
	fs     []Function
	memory scratch
}

func (s *sum) Value(x []float64) float64 {
	value := 0.0
	for _, f := range s.fs {
		value += f.Value(x)
	}
	return value
}

func (s *sum) Values(dst, points []float64) {
	clear(dst)
	held := s.memory.take(len(dst))
	for _, f := range s.fs {
		evaluate(f, *held, points)
		for i, value := range *held {
			dst[i] += value
		}
	}
	s.memory.put(held)
}

func (s *sum) Gradient(grad, x []float64) float64 {
	clear(grad)
	held := s.memory.take(len(x))
	value := 0.0
	for _, f := range s.fs {
		value += f.Gradient(*held, x)
		for i, slope := range *held {
			grad[i] += slope
		}
	}
	s.memory.put(held)
	return value
}
