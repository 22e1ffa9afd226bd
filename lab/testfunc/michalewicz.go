package testfunc

import (
	"fmt"
	"math"
)

// Michalewicz has d floats in [0, π]: steep narrow valleys between plateaus, the
// steeper the later the coordinate. Its least value is -1.8013 for d = 2,
// -4.687658 for d = 5 and -9.66015 for d = 10. d is 1 to 100; others panic.
//
// Source: Michalewicz (1992), "Genetic Algorithms + Data Structures = Evolution
// Programs", with steepness m = 10.
//
// It is a sum over coordinates, so that the optimum is found here one coordinate
// at a time. Up to π outside the space every term is at least 0, since the sine has
// the other sign; farther outside, where it changes again, the terms have their
// absolute value here.
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

// michalewiczValley returns where the term of coordinate i is least. A grid finds
// every valley (the narrowest, of i = 99, are 0.005 wide, 16 steps of the grid),
// and each is searched by golden sections, since neighbours may be nearly as deep.
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
