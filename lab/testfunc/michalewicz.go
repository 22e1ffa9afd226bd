package testfunc

import (
	"fmt"
	"math"
)

// Michalewicz returns the function of d floats in [0, π] with steep narrow valleys between
// plateaus. The valleys are steeper for later coordinates. The minimum is -1.8013 for d = 2,
// -4.687658 for d = 5 and -9.66015 for d = 10. Michalewicz panics unless d is 1 to 100.
//
// Source: Michalewicz (1992), "Genetic Algorithms + Data Structures = Evolution
// Programs", with steepness m = 10.
//
// The function is a sum over coordinates, so the optimum is found one coordinate at a time. Up to π
// outside the space every term is at least 0, because the sine has the other sign there. Farther
// outside, where the sign changes again, this implementation uses the absolute value of the term.
func Michalewicz(d int) Function {
	f := Function{
		Name:       fmt.Sprintf("michalewicz%d", d),
		Space:      box(d, 0, math.Pi),
		Value:      michalewicz,
		Minimizers: [][]float64{make([]float64, d)},
		Deviation:  michalewiczDeviation(d),
		Reach:      math.Inf(1),
	}
	for i := range d {
		f.Minimizers[0][i] = michalewiczValley(i)
	}
	f.Optimum = michalewicz(f.Minimizers[0])
	return f
}

func michalewicz(x []float64) float64 {
	value := 0.0
	for i, v := range x {
		value += michalewiczTerm(i, v)
	}
	return value
}

func michalewiczTerm(i int, v float64) float64 {
	height := -math.Sin(v)
	if v < 0 || v > math.Pi {
		height = math.Abs(height)
	}
	s := math.Sin(float64(i+1) * v * v / math.Pi)
	s2 := s * s
	s4 := s2 * s2
	s8 := s4 * s4
	return height * s8 * s8 * s4
}

// michalewiczValley returns the minimizer of the term of coordinate i. A grid finds every valley:
// the narrowest, of i = 99, are 0.005 wide, or 16 steps of the grid. Golden-section search then
// minimises in each valley, because valleys may be nearly equally deep.
func michalewiczValley(i int) float64 {
	const step = math.Pi / 10000
	best := 0.0
	for v := step; v < math.Pi; v += step {
		here := michalewiczTerm(i, v)
		if here < michalewiczTerm(i, v-step) && here <= michalewiczTerm(i, v+step) {
			if bottom := goldenSection(i, v-step, v+step); michalewiczTerm(i, bottom) < michalewiczTerm(i, best) {
				best = bottom
			}
		}
	}
	return best
}

func goldenSection(i int, low, high float64) float64 {
	for high-low > 1e-9 {
		part := (high - low) * (3 - math.Sqrt(5)) / 2
		if a, b := low+part, high-part; michalewiczTerm(i, a) < michalewiczTerm(i, b) {
			high = b
		} else {
			low = a
		}
	}
	return (low + high) / 2
}
