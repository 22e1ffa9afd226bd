package acquisition

import (
	"math"
	"slices"
)

// LogMean returns the logarithm of the mean of what functions are the logarithms of: of
// LogEI under several posteriors that of the expected improvement under their mixture. Of
// one it is that one, and of none it panics.
func LogMean(fs ...Function) Function {
	switch len(fs) {
	case 0:
		panic("acquisition: LogMean of no functions")
	case 1:
		return fs[0]
	}
	return &logMean{fs: slices.Clone(fs)}
}

var _ Batch = (*logMean)(nil)

type logMean struct {
	fs     []Function
	memory scratch
}

func (m *logMean) Value(x []float64) float64 {
	total := math.Inf(-1)
	for _, f := range m.fs {
		total = logAdd(total, f.Value(x))
	}
	return total - math.Log(float64(len(m.fs)))
}

func (m *logMean) Values(dst, points []float64) {
	held := m.memory.take(len(dst))
	for i := range dst {
		dst[i] = math.Inf(-1)
	}
	for _, f := range m.fs {
		evaluate(f, *held, points)
		for i, value := range *held {
			dst[i] = logAdd(dst[i], value)
		}
	}
	m.memory.put(held)
	for i := range dst {
		dst[i] -= math.Log(float64(len(m.fs)))
	}
}

// Gradient is the mean of the gradients, weighted by what the functions are the
// logarithms of.
func (m *logMean) Gradient(grad, x []float64) float64 {
	held := m.memory.take(len(x))
	clear(grad)
	total := math.Inf(-1)
	for _, f := range m.fs {
		value := f.Gradient(*held, x)
		if math.IsInf(value, -1) || math.IsNaN(value) {
			continue
		}
		next := logAdd(total, value)
		kept, added := math.Exp(total-next), math.Exp(value-next)
		for i, slope := range *held {
			grad[i] = kept*grad[i] + added*slope
		}
		total = next
	}
	m.memory.put(held)
	return total - math.Log(float64(len(m.fs)))
}

// logAdd returns log(exp(a)+exp(b)); NaN counts as nothing.
func logAdd(a, b float64) float64 {
	if math.IsNaN(b) || math.IsInf(b, -1) {
		return a
	}
	if a < b {
		a, b = b, a
	}
	return a + math.Log1p(math.Exp(b-a))
}
