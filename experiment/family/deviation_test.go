package family

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
)

// The deviations are what other rules of integration find for the functions as
// package testfunc has them.
func TestDeviations(t *testing.T) {
	named := func(name string) base {
		all := bases()
		return all[slices.IndexFunc(all, func(b base) bool { return b.name == name })]
	}
	branin, hartmann3, hartmann6, shekel4 := named("branin"), named("hartmann3"), named("hartmann6"), named("shekel4")
	ackley, levy := named("ackley"), named("levy")
	tests := []struct {
		base      base
		d         int
		deviation float64
		tolerance float64 // relative
	}{
		{branin, 0, deviationByProduct(branin, 0, 64), 1e-5},
		{hartmann3, 0, deviationByProduct(hartmann3, 0, 40), 1e-5},
		{hartmann6, 0, deviationByLattice(hartmann6, 0, 1<<16), 3e-3},
		{shekel4, 0, deviationByProduct(shekel4, 0, 40), 1.5e-3}, // 2e-6 with 80 points
		{levy, 1, deviationByProduct(levy, 1, 200), 1e-5},
		{levy, 2, deviationByProduct(levy, 2, 200), 1e-5},
		{levy, 5, deviationByLattice(levy, 5, 1<<15), 1e-2},
		{levy, 20, deviationByLattice(levy, 20, 1<<15), 2e-2},
	}
	for d := 1; d <= maxClassicDim; d += 3 {
		tests = append(tests, struct {
			base      base
			d         int
			deviation float64
			tolerance float64
		}{ackley, d, deviationByLattice(ackley, d, 1<<14), 1.5e-2})
	}
	for _, test := range tests {
		if got := test.base.deviation(test.d); !(math.Abs(got/test.deviation-1) < test.tolerance) {
			t.Errorf("%s in %d dimensions: deviation %.9g, here %.9g", test.base.name, test.d, got, test.deviation)
		}
	}
}

// deviationByProduct uses the Gauss-Legendre rule with n points for each coordinate.
func deviationByProduct(b base, d, n int) float64 {
	f := b.function(d)
	parameters := f.Space.Parameters()
	nodes, weights := make([]float64, n), make([]float64, n)
	quad.Legendre{}.FixedLocations(nodes, weights, 0, 1)
	var mean, square float64
	x := make([]float64, len(parameters))
	var sum func(i int, weight float64)
	sum = func(i int, weight float64) {
		if i == len(x) {
			value := f.Value(x)
			mean += weight * value
			square += weight * value * value
			return
		}
		for k, u := range nodes {
			x[i] = parameters[i].Low + u*(parameters[i].High-parameters[i].Low)
			sum(i+1, weight*weights[k])
		}
	}
	sum(0, 1)
	return math.Sqrt(square - mean*mean)
}

// deviationByLattice takes the mean over n points that fill the space evenly.
func deviationByLattice(b base, d, n int) float64 {
	f := b.function(d)
	parameters := f.Space.Parameters()
	points := dense(n, len(parameters))
	var count, mean, square float64
	for x := range chunks(points, len(parameters)) {
		for i, p := range parameters {
			x[i] = p.Low + x[i]*(p.High-p.Low)
		}
		value := f.Value(x)
		count++
		off := value - mean
		mean += off / count
		square += off * (value - mean)
	}
	return math.Sqrt(square / count)
}

// chunks yields rows of n numbers.
func chunks(all []float64, n int) func(yield func([]float64) bool) {
	return func(yield func([]float64) bool) {
		for len(all) > 0 && yield(all[:n:n]) {
			all = all[n:]
		}
	}
}
