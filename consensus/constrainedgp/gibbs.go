package constrainedgp

import (
	"math"
	"math/rand/v2"
	"slices"
)

// sweeps is after how many passes over all coordinates a chain gives its sample.
// In the tests three are enough from starts far away.
const sweeps = 25

// gibbs returns maxKept samples of z given the condition, one from each of as
// many chains. No sample is thrown away between two of a chain, since there is
// only one: the burn-in is sweeps, and the start is a draw that is right but for
// the number of starts.
//
// A coordinate is that of z, not of g = m + Lz. Designs of agents that seek the
// same optimum lie close together, and along nearly equal elements of g the sampler
// would go in tiny steps; of z, which is independent but for the condition, it
// would not. Source: Rodriguez-Yam, Davis and Scharf, "Efficient Gibbs Sampling
// of Truncated Multivariate Normal with Application to Constrained Linear
// Regression" (2004).
func (c condition) gibbs(rng *rand.Rand) [][]float64 {
	chains := c.starts(rng)
	c.move(chains, rng)
	return chains
}

// move lets every chain go on for sweeps passes, in place.
func (c condition) move(chains [][]float64, rng *rand.Rand) {
	slack := make([]float64, c.k)
	for _, z := range chains {
		for i := range slack {
			slack[i] = dot(c.row(i), z) - c.bound[i]
		}
		for range sweeps {
			c.sweep(z, slack, rng)
		}
	}
}

// sweep draws every coordinate of z anew given the others. slack is Lz - bound.
func (c condition) sweep(z, slack []float64, rng *rand.Rand) {
	for i := range z {
		low, high := math.Inf(-1), math.Inf(1)
		for j := i; j < c.k; j++ {
			switch w := c.l[j*c.k+i]; {
			case w > 0:
				low = max(low, z[i]-slack[j]/w)
			case w < 0:
				high = min(high, z[i]-slack[j]/w)
			}
		}
		if !(low < high) {
			continue // by rounding, in a corner
		}
		step := truncatedNormal(low, high, rng) - z[i]
		z[i] += step
		for j := i; j < c.k; j++ {
			slack[j] += c.l[j*c.k+i] * step
		}
	}
}

// starts draws z element by element, each given that its own part of the
// condition is met after those before it, and chooses among the draws by the
// probability of that: Genz, "Numerical Computation of Multivariate Normal
// Probabilities" (Journal of Computational and Graphical Statistics, 1992), in
// the order of the elements.
func (c condition) starts(rng *rand.Rand) [][]float64 {
	draws, logs := make([][]float64, proposals), make([]float64, proposals)
	for n := range draws {
		z := make([]float64, c.k)
		for i := range z {
			row := c.row(i)
			low := (c.bound[i] - dot(row[:i], z)) / row[i]
			logs[n] += logAbove(low)
			z[i] = truncatedNormal(low, math.Inf(1), rng)
		}
		draws[n] = z
	}
	largest, total := slices.Max(logs), 0.0
	for n, v := range logs {
		logs[n] = math.Exp(v - largest)
		total += logs[n]
	}
	chosen := make([][]float64, maxKept)
	at, offset, sum := 0, rng.Float64(), logs[0]
	for i := range chosen {
		for mark := total * (float64(i) + offset) / maxKept; sum < mark && at < proposals-1; {
			at++
			sum += logs[at]
		}
		chosen[i] = slices.Clone(draws[at])
	}
	return chosen
}

// Bound from which the standard normal distribution is sampled by its tail.
const (
	tail  = 2.0
	tries = 100 // of which each is taken with a probability above 0.8
)

// truncatedNormal draws from the standard normal distribution between low and
// high, low < high: by its inverse in the middle, and in a tail by rejection from
// an exponential distribution (Devroye, "Non-Uniform Random Variate Generation"
// (1986), chapter IX.1.2).
func truncatedNormal(low, high float64, rng *rand.Rand) float64 {
	if high < -low {
		return -truncatedNormal(-high, -low, rng)
	}
	if low < tail {
		below, above := math.Erf(low/math.Sqrt2), math.Erf(high/math.Sqrt2)
		at := min(below+(above-below)*rng.Float64(), 1-0x1p-53) // which rounding must not make 1
		x := math.Sqrt2 * math.Erfinv(at)
		return min(max(x, low), high)
	}
	x, width := low, -math.Expm1(-low*(high-low))
	for range tries {
		x = min(low-math.Log1p(-width*rng.Float64())/low, high)
		if rng.Float64() <= math.Exp(-(x-low)*(x-low)/2) {
			break
		}
	}
	return x
}

// logAbove returns the logarithm of the probability that a standard normal
// variable exceeds z.
func logAbove(z float64) float64 {
	if z < 30 {
		return math.Log(math.Erfc(z/math.Sqrt2) / 2)
	}
	return -z*z/2 - math.Log(z*math.Sqrt(2*math.Pi)) // to a thousandth
}
