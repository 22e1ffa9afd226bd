package acquisition

import "math"

// Bounded is a function whose values are wanted from Low to High. One of these may be
// infinite.
type Bounded struct {
	Function
	Low, High float64
}

// over is by how much a value lies outside, below 0 where it is too low.
func (b Bounded) over(value float64) float64 {
	switch {
	case value < b.Low:
		return value - b.Low
	case value > b.High:
		return value - b.High
	}
	return 0
}

// penalty is what the square of a violation costs, in standardised units. The maximum on
// the border of what is allowed breaks it by the ratio of the slopes over 2·penalty:
// less than what a model can tell of an observed design, 0.01.
const penalty = 1000

// Penalised returns f less 1000 times the squares of the violations of the others, so
// that its maximum is that of f among the points that keep all, to within 0.001 times
// the ratio of the slopes of f and of what is bounded, and where nothing keeps all,
// the point of least violation. It is smooth, which Maximizer's climbs need. Without
// others it is f.
func Penalised(f Function, others ...Bounded) Function {
	if len(others) == 0 {
		return f
	}
	return &penalised{f: f, others: others}
}

// Violation is the sum of the squares of by how much the values at x lie outside; 0
// where all is kept.
func Violation(x []float64, all ...Bounded) float64 {
	sum := 0.0
	for _, b := range all {
		over := b.over(b.Value(x))
		sum += over * over
	}
	return sum
}

// Margin returns what must hold for the limit to be kept with a margin of so many
// standard deviations of the prediction. It panics when deviations is negative or NaN.
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
