package testfunc

import "math/rand/v2"

// Noisy returns f with independent Gaussian noise added to each value. sd is the standard deviation
// in the units of f, 0 or more. Optimum and Minimizers stay those of f. Value draws from rng at
// each call. Therefore it is not safe for concurrent use, and the k-th call gets the same noise at
// any point.
func Noisy(f Function, sd float64, rng *rand.Rand) Function {
	if !(sd >= 0) {
		panic("testfunc: the standard deviation of noise must be 0 or more")
	}
	g := f
	g.Name = f.Name + "-noisy"
	g.Value = func(x []float64) float64 { return f.Value(x) + sd*rng.NormFloat64() }
	return g
}
