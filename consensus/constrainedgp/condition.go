package constrainedgp

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	proposals = 2000 // posterior samples that determine which designs are dropped
	fewClaims = 5    // up to this number of designs, a set counts as impossible if no proposal satisfies the condition at all of them
	enough    = 50   // minimum number of accepted proposals that represent the distribution
	maxKept   = 200  // maximum number of samples in the average of the acquisition function

	// nugget is the variance of an error that is added to f at each design of the condition, in
	// units of the variance of f there. It keeps the covariance matrix of nearly identical designs
	// well above rounding errors, and that of designs that the others nearly determine.
	nugget = 1e-6
)

// condition states that all k elements of a normal vector g = m + Lz exceed a threshold, with z
// standard normal. This is Lz > bound.
type condition struct {
	k     int
	l     []float64 // L, k×k, row-major, lower
	bound []float64 // threshold - m
}

// newCondition returns the condition that the elements `which` of a normal vector with this mean
// and covariance exceed the threshold. ok is false if their covariance cannot be factorised.
func newCondition(mean []float64, covariance *mat.SymDense, which []int, threshold float64) (c condition, ok bool) {
	c = condition{k: len(which), l: make([]float64, len(which)*len(which)), bound: make([]float64, len(which))}
	part := mat.NewSymDense(c.k, nil)
	for i, from := range which {
		c.bound[i] = threshold - mean[from]
		for j, other := range which[:i] {
			part.SetSym(j, i, covariance.At(other, from))
		}
		part.SetSym(i, i, covariance.At(from, from)*(1+nugget))
	}
	var chol mat.Cholesky
	if !chol.Factorize(part) {
		return c, false
	}
	var l mat.TriDense
	chol.LTo(&l)
	for i := range c.k {
		for j := range i + 1 {
			c.l[i*c.k+j] = l.At(i, j)
		}
	}
	return c, true
}

func (c condition) row(i int) []float64 { return c.l[i*c.k : i*c.k+i+1] }

// forward multiplies v (length k) by L⁻¹ in place.
func (c condition) forward(v []float64) {
	for i := range v {
		row := c.row(i)
		for j, w := range row[:i] {
			v[i] -= w * v[j]
		}
		v[i] /= row[i]
	}
}

// backward multiplies v (length k) by L⁻ᵀ in place.
func (c condition) backward(v []float64) {
	for i := c.k - 1; i >= 0; i-- {
		row := c.row(i)
		v[i] /= row[i]
		for j, w := range row[:i] {
			v[j] -= w * v[i]
		}
	}
}

// propose draws z without the condition, `proposals` times. It returns the draws that satisfy the
// whole condition, and for each element the number of draws in which that element exceeds the
// threshold.
func (c condition) propose(rng *rand.Rand) (accepted [][]float64, supported []int) {
	supported = make([]int, c.k)
	z := make([]float64, c.k)
	for range proposals {
		met := 0
		for i := range z {
			z[i] = rng.NormFloat64()
			if dot(c.row(i), z) > c.bound[i] {
				supported[i]++
				met++
			}
		}
		if met == c.k {
			accepted = append(accepted, slices.Clone(z))
		}
	}
	return accepted, supported
}

// fulfil selects the elements of a normal vector that can exceed the threshold together, and
// samples the vector under the condition c that they do. kept has the indices of these elements in
// order. It is empty if all were dropped. samples has at most maxKept vectors z of c.
func fulfil(mean []float64, covariance *mat.SymDense, threshold float64, rng *rand.Rand) (kept []int, c condition, samples [][]float64) {
	for i := range mean {
		kept = append(kept, i)
	}
	for len(kept) > 0 {
		var ok bool
		if c, ok = newCondition(mean, covariance, kept, threshold); !ok {
			kept = withoutLeast(kept, mean, covariance, threshold)
			continue
		}
		accepted, supported := c.propose(rng)
		if slices.Contains(supported, 0) {
			var rest []int
			for i, from := range kept {
				if supported[i] > 0 {
					rest = append(rest, from)
				}
			}
			kept = rest
			continue
		}
		switch {
		case c.k > fewClaims || len(accepted) > 0 && len(accepted) < enough:
			return kept, c, c.gibbs(rng)
		case len(accepted) > 0:
			return kept, c, thin(accepted)
		}
		kept = withoutLeast(kept, mean, covariance, threshold)
	}
	return nil, condition{}, nil
}

// withoutLeast returns kept without the least plausible element, the one with the smallest (mean -
// threshold)/sd.
func withoutLeast(kept []int, mean []float64, covariance *mat.SymDense, threshold float64) []int {
	least, lowest := 0, math.Inf(1)
	for i, from := range kept {
		score := (mean[from] - threshold) / math.Sqrt(covariance.At(from, from))
		if math.IsNaN(score) {
			score = math.Inf(-1) // the mean equals the threshold, and the variance is 0
		}
		if score < lowest {
			least, lowest = i, score
		}
	}
	return slices.Delete(slices.Clone(kept), least, least+1)
}

// thin returns at most maxKept of the samples, evenly spaced.
func thin(samples [][]float64) [][]float64 {
	if len(samples) <= maxKept {
		return samples
	}
	thinned := make([][]float64, maxKept)
	for i := range thinned {
		thinned[i] = samples[i*len(samples)/maxKept]
	}
	return thinned
}

// dot returns the scalar product of row and the first elements of v, summed in order of the index.
// linalg.Dot sums in another order, which would change draws.
func dot(row, v []float64) float64 {
	sum := 0.0
	for i, w := range row {
		sum += w * v[i]
	}
	return sum
}
