package acquisition

import "math"

// Bounded is a function with a range of allowed values, from Low to High. One of the two may be
// infinite.
type Bounded struct {
	Function
	Low, High float64
}

// over returns the distance of value from the allowed range: negative if value is too low, 0
// inside.
func (b Bounded) over(value float64) float64 {
	switch {
	case value < b.Low:
		return value - b.Low
	case value > b.High:
		return value - b.High
	}
	return 0
}

// penalty is the factor of a squared violation, in standardised units. A maximum on the border of
// the allowed range violates it by the ratio of the slopes of f and of the bounded function,
// divided by 2·penalty. That is less than 0.01, the precision at which a model knows an observed
// design.
const penalty = 1000

// Penalised returns f minus 1000 times the squared violations of the bounded functions in others.
// Its maximum is near the maximum of f among the points without violations: the violation is at
// most 0.001 times the ratio of the slopes of f and of the others. If every point has violations,
// it is near the point with the smallest. The function is smooth, as the Maximizer's local searches
// need it. Without others, Penalised returns f.
func Penalised(f Function, others ...Bounded) Function {
	if len(others) == 0 {
		return f
	}
	return &penalised{f: f, others: others}
}

// Violation returns the sum of the squared distances of the functions' values at x from their
// ranges. It is 0 if there is no violation.
func Violation(x []float64, all ...Bounded) float64 {
	sum := 0.0
	for _, b := range all {
		over := b.over(b.Value(x))
		sum += over * over
	}
	return sum
}

// Margin returns the conditions under which the limit is satisfied with a margin, which is a number
// of predicted standard deviations. It panics if deviations is negative or NaN.
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
