package testfunc

import "math/rand/v2"

// Noisy returns f with independent Gaussian noise of standard deviation sd (in
// the units of f, 0 or more) added to each value that is asked for. Optimum and
// Minimizers stay those of f. Its Value draws from rng at each call: it is not
// safe for concurrent use, and the k-th call meets the same noise wherever it is.
func Noisy(f Function, sd float64, rng *rand.Rand) Function {
	if !(sd >= 0) {
		panic("testfunc: the standard deviation of noise must be 0 or more")
	}
	g := f
	g.Name = f.Name + "-noisy"
	g.Value = func(x []float64) float64 { return f.Value(x) + sd*rng.NormFloat64() }
	return g
}
