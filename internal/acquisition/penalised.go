package acquisition

import "math"

// Bounded is a function with a range of allowed values, from Low to High. One of these may be
// infinite.
type Bounded struct {
	Function
	Low, High float64
}

// over returns the distance of a value from the range, negative if it is too low.
func (b Bounded) over(value float64) float64 {
	switch {
	case value < b.Low:
		return value - b.Low
	case value > b.High:
		return value - b.High
	}
	return 0
}

// penalty is the cost of the square of a violation, in standardised units. A maximum on the border
// of the allowed range violates it by the ratio of the slopes over 2·penalty. That is less than the
// precision at which a model knows an observed design, 0.01.
const penalty = 1000

// Penalised returns f minus 1000 times the squares of the violations of the others. Its maximum is
// that of f among the points without violations, to within 0.001 times the ratio of the slopes of f
// and of the others. If every point violates some, it is the point of least violation. The function
// is smooth, which Maximizer's climbs need. Without others it is f.
func Penalised(f Function, others ...Bounded) Function {
	if len(others) == 0 {
		return f
	}
	return &penalised{f: f, others: others}
}

// Violation returns the sum of the squared distances of the values at x from their ranges; 0
// without violations.
func Violation(x []float64, all ...Bounded) float64 {
	sum := 0.0
	for _, b := range all {
		over := b.over(b.Value(x))
		sum += over * over
	}
	return sum
}

// Margin returns the conditions under which the limit is satisfied with a margin of deviations, in
// standard deviations of the prediction. It panics if deviations is negative or NaN.
func Margin(l Limit, deviations float64) []Bounded {
	var all []Bounded
	if !math.IsInf(l.Low, -1) {
		all = append(all, Bounded{LCB(l.predictor(), deviations*deviations), l.Low, math.Inf(1)})
	}
	if !math.IsInf(l.High, 1) {
		all = append(all, Bounded{UCB(l.predictor(), deviations*deviations), math.Inf(-1), l.High})
	}
	return all
}

type penalised struct {
	f      Function
	others []Bounded
	memory scratch
}

func (p *penalised) Value(x []float64) float64 {
	return p.f.Value(x) - penalty*Violation(x, p.others...)
}

func (p *penalised) Gradient(grad, x []float64) float64 {
	value, violation := p.f.Gradient(grad, x), 0.0
	held := p.memory.take(len(x))
	for _, b := range p.others {
		over := b.over(b.Function.Gradient(*held, x))
		violation += over * over
		for i, slope := range *held {
			grad[i] -= 2 * penalty * over * slope
		}
	}
	p.memory.put(held)
	return value - penalty*violation
}
