package acquisition

import "math/rand/v2"

// halton is the sequence of Halton (1960), in which the digits of each coordinate are permuted at
// random. The permutations break the correlation between coordinates with large bases (Braaten and
// Weller, "An Improved Low-Discrepancy Sequence for Multidimensional Quasi-Monte Carlo
// Integration", Journal of Computational Physics, 1979, who use fixed permutations).
//
// Three kinds of points were compared as candidates on draws of Gaussian processes with 2, 6 and 20
// floats: this sequence, a golden-ratio lattice and independent points. The maxima found were equal
// within the error of 24 draws each. From 20 coordinates on, the lattice leaves gaps of a quarter
// in single coordinates, and this sequence leaves none. gonum's samplemv.Halton scrambles
// differently, so the same seed would give other designs.
type halton struct {
	index        int
	permutations [][]int // one per coordinate, as long as its base
	point        []float64
}

func newHalton(dim int, rng *rand.Rand) *halton {
	h := &halton{point: make([]float64, dim)}
	for _, base := range primes(dim) {
		h.permutations = append(h.permutations, rng.Perm(base))
	}
	return h
}

// next returns the next point, with coordinates in [0, 1). The slice is valid until the next call.
func (h *halton) next() []float64 {
	const finest = 1e-9
	h.index++
	for k, permutation := range h.permutations {
		base, rest := len(permutation), h.index
		u, weight := 0.0, 1.0
		for weight > finest {
			weight /= float64(base)
			u += weight * float64(permutation[rest%base])
			rest /= base
		}
		h.point[k] = u
	}
	return h.point
}

// primes returns the first count primes.
func primes(count int) []int {
	var all []int
candidate:
	for n := 2; len(all) < count; n++ {
		for _, p := range all {
			if n%p == 0 {
				continue candidate
			}
		}
		all = append(all, n)
	}
	return all
}
