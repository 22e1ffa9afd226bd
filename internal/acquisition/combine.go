package acquisition

import "slices"

// Sum returns the sum of functions. For logarithms of functions, such as LogEI and LogFeasibility,
// it is the logarithm of their product. Without arguments it returns the function 0.
func Sum(fs ...Function) Function { return &sum{fs: slices.Clone(fs)} }

// Times returns a function times a factor.
func Times(f Function, factor float64) Function { return times{f, factor} }

var (
	_ Batch = (*sum)(nil)
	_ Batch = times{}
)

type times struct {
	f      Function
	factor float64
}

func (t times) Value(x []float64) float64 { return t.factor * t.f.Value(x) }

func (t times) Values(dst, points []float64) {
	evaluate(t.f, dst, points)
	for i := range dst {
		dst[i] *= t.factor
	}
}

func (t times) Gradient(grad, x []float64) float64 {
	value := t.f.Gradient(grad, x)
	for i := range grad {
		grad[i] *= t.factor
	}
	return t.factor * value
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
