package acquisition

import (
	"fmt"
	"math"
	"slices"
)

// LogMean is LogAverage with equal weights. Given one function it returns that function.
func LogMean(fs ...Function) Function {
	if len(fs) == 1 {
		return fs[0]
	}
	return LogAverage(slices.Repeat([]float64{1}, len(fs)), fs...)
}

// LogAverage returns the logarithm of a weighted average, given the logarithms of its terms as
// functions. With LogEI under several posteriors, it is the logarithm of the expected improvement
// under their mixture. weights has one number per function, at least 0; only the ratios of weights
// matter. LogAverage panics if no weight is positive.
func LogAverage(weights []float64, fs ...Function) Function {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	if len(weights) != len(fs) || !(total > 0) {
		panic(fmt.Sprintf("acquisition: LogAverage of %d functions by weights %v", len(fs), weights))
	}
	m := &logAverage{}
	for i, w := range weights {
		if w > 0 {
			m.fs, m.logs = append(m.fs, fs[i]), append(m.logs, math.Log(w/total))
		}
	}
	return m
}

var _ Batch = (*logAverage)(nil)

type logAverage struct {
	fs     []Function
	logs   []float64 // logarithms of the weights, which sum to 1
	memory scratch
}

func (m *logAverage) Value(x []float64) float64 {
	total := math.Inf(-1)
	for i, f := range m.fs {
		total = logAdd(total, m.logs[i]+f.Value(x))
	}
	return total
}

func (m *logAverage) Values(dst, points []float64) {
	held := m.memory.take(len(dst))
	for i := range dst {
		dst[i] = math.Inf(-1)
	}
	for k, f := range m.fs {
		evaluate(f, *held, points)
		for i, value := range *held {
			dst[i] = logAdd(dst[i], m.logs[k]+value)
		}
	}
	m.memory.put(held)
}

// Gradient returns log Σ w_i exp(f_i(x)), and fills grad with its gradient: the average of the
// gradients of the f_i, weighted by w_i exp(f_i(x)).
func (m *logAverage) Gradient(grad, x []float64) float64 {
	held := m.memory.take(len(x))
	clear(grad)
	total := math.Inf(-1)
	for k, f := range m.fs {
		value := m.logs[k] + f.Gradient(*held, x)
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
	return total
}

// logAdd returns log(exp(a)+exp(b)); if b is NaN, exp(b) counts as 0.
func logAdd(a, b float64) float64 {
	if math.IsNaN(b) || math.IsInf(b, -1) {
		return a
	}
	if a < b {
		a, b = b, a
	}
	return a + math.Log1p(math.Exp(b-a))
}
