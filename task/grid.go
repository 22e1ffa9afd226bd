package task

import (
	"math"
	"math/big"
	"slices"
)

// grid maps the values of one parameter with finitely many ordered numbers to [0, 1] and back. Such
// parameters are ints, floats in steps, and listed numbers. The values are numbered from 0. Each
// value has a bin in [0, 1]. All bins have the same width, except on log scale: there the bin of an
// int v is proportional to [log(v-1/2), log(v+1/2)].
type grid struct {
	count         int64
	log           bool
	low           float64
	origin, width float64 // log scale: log of the lowest bin's lower edge, and log(upper edge/lower edge) of the whole range

	listed []Value // listed numbers; nil otherwise
	step   float64 // step of ints, and of floats in steps
	exact  *steps  // exact values of floats in steps; nil otherwise
}

// newGrid returns the grid of an int parameter, or of a float parameter with a step or listed
// numbers.
func newGrid(p Parameter) grid {
	switch {
	case p.Numbers != nil:
		listed := p.listed()
		return grid{listed: listed, count: int64(len(listed))}
	case p.Kind == Float:
		exact := newSteps(p)
		return grid{low: p.Low, step: p.Step, exact: exact, count: exact.count()}
	}
	g := grid{low: p.Low, log: p.Scale == Log, step: max(p.Step, 1)}
	g.count = int64((p.High-p.Low)/g.step) + 1
	if g.log {
		g.origin = math.Log(p.Low - 0.5)
		g.width = math.Log(p.High+0.5) - g.origin
	}
	return g
}

// coordinate returns the coordinate of value number k. The conversion to float64 keeps compilers
// from fusing operations, which would make designs differ between CPUs.
func (g *grid) coordinate(k int64) float64 {
	if g.log {
		return (math.Log(g.low+float64(k)) - g.origin) / g.width
	}
	return (float64(k) + 0.5) / float64(g.count)
}

// index returns the number of the value whose bin contains the coordinate u. It accepts any u: NaN
// and values below 0 count as 0, values above 1 as 1.
func (g *grid) index(u float64) int64 {
	if !(u > 0) {
		return 0
	}
	if u >= 1 {
		return g.count - 1
	}
	k := math.Floor(u * float64(g.count))
	if g.log {
		k = math.Round(math.Exp(g.origin+float64(u*g.width))) - g.low
	}
	return int64(math.Max(0, math.Min(float64(g.count-1), k)))
}

// value returns value number k.
func (g *grid) value(k int64) Value {
	switch {
	case g.listed != nil:
		return g.listed[k]
	case g.exact != nil:
		return FloatValue(g.exact.at(k))
	}
	return IntValue(int64(g.low) + k*int64(g.step))
}

// number returns the number of the value v; ok is false if v is not on the grid. For a float in
// steps, v may have a rounding error, as 0.1 + 0.2 has.
func (g *grid) number(v Value) (k int64, ok bool) {
	switch {
	case g.listed != nil:
		k = int64(slices.Index(g.listed, v))
		return k, k >= 0
	case g.exact != nil:
		k = int64(math.Max(-1, math.Min(float64(g.count), math.Round((v.float-g.low)/g.step))))
		return k, v.kind == Float && k >= 0 && k < g.count && math.Abs(v.float-g.exact.at(k)) <= g.exact.tolerance
	}
	k = (v.int - int64(g.low)) / int64(g.step)
	return k, v.kind == Int && k >= 0 && k < g.count && g.value(k) == v
}

// steps computes low + k·step with exact decimals, so that 0.1 plus two steps of 0.1 is 0.3 and not
// 0.30000000000000004. The fields low and step are the numbers that the shortest texts of the
// floats denote.
type steps struct {
	low, step *big.Rat
	high      float64 // last value, if a step ends within the tolerance of it
	tolerance float64 // largest difference of two numbers that count as equal
}

// stepTolerance is the tolerance as a fraction of the step. One unit in the last place of the
// larger bound is added to it.
const stepTolerance = 1e-8

func newSteps(p Parameter) *steps {
	return &steps{low: decimal(p.Low), step: decimal(p.Step), high: p.High, tolerance: stepTolerance*p.Step + largestUlp(p)}
}

func largestUlp(p Parameter) float64 {
	largest := math.Max(math.Abs(p.Low), math.Abs(p.High))
	return math.Nextafter(largest, math.Inf(1)) - largest
}

// decimal returns the exact value of the shortest text of v.
func decimal(v float64) *big.Rat {
	r, ok := new(big.Rat).SetString(formatFloat(v))
	if !ok {
		panic("task: " + formatFloat(v) + " is no finite number") // cannot happen: Parameter.problems rejects numbers that are not finite
	}
	return r
}

func (s *steps) at(k int64) float64 {
	sum := new(big.Rat).Mul(s.step, new(big.Rat).SetInt64(k))
	v, _ := sum.Add(sum, s.low).Float64()
	if math.Abs(v-s.high) <= s.tolerance {
		return s.high
	}
	return v
}

// count returns the number of values.
func (s *steps) count() int64 {
	span := new(big.Rat).Sub(decimal(s.high), s.low)
	span.Add(span, new(big.Rat).SetFloat64(s.tolerance))
	span.Quo(span, s.step)
	return new(big.Int).Quo(span.Num(), span.Denom()).Int64() + 1
}
