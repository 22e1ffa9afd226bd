package constrainedgp

import (
	"math"
	"math/rand/v2"
	"slices"
)

// sweeps is the number of passes over all coordinates before a chain returns its sample. In the
// tests three passes are enough from distant starts.
const sweeps = 25

// gibbs returns maxKept samples of z given the condition, one from each of maxKept chains, so that
// no chain must be thinned. Each chain starts from a draw whose distribution is exact in the limit
// of many proposals, and then makes `sweeps` passes.
//
// The sampler moves in coordinates of z, not of g = m + Lz. Agents that seek the same optimum share
// designs that are close together, with nearly equal elements of g. Along these the sampler would
// take tiny steps. The elements of z are independent except for the condition. Source:
// Rodriguez-Yam, Davis and Scharf, "Efficient Gibbs Sampling of Truncated Multivariate Normal with
// Application to Constrained Linear Regression" (2004).
func (c condition) gibbs(rng *rand.Rand) [][]float64 {
	chains := c.starts(rng)
	c.move(chains, rng)
	return chains
}

// move makes `sweeps` passes of each chain, in place.
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

// sweep draws each coordinate of z given the others. slack is Lz - bound, which it updates.
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
			continue // rounding errors in a corner
		}
		step := truncatedNormal(low, high, rng) - z[i]
		z[i] += step
		for j := i; j < c.k; j++ {
			slack[j] += c.l[j*c.k+i] * step
		}
	}
}

// starts returns the starts of maxKept chains. It draws z element by element. Each element is drawn
// given the elements before it and its own part of the condition. The draws are then resampled with
// weights proportional to the product of the probabilities of these parts. Source: Genz, "Numerical
// Computation of Multivariate Normal Probabilities" (Journal of Computational and Graphical
// Statistics, 1992), in the order of the elements.
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

// Constants of sampling the standard normal distribution in its tail.
const (
	tail  = 2.0 // from this lower bound on, truncatedNormal uses rejection sampling
	tries = 100 // maximum number of proposals; each is accepted with a probability above 0.8
)

// truncatedNormal draws from the standard normal distribution between low and
// high, low < high. It uses the inverse distribution function in the middle and rejection
// from an exponential distribution in a tail (Devroye, "Non-Uniform Random Variate
// Generation" (1986), chapter IX.1.2).
func truncatedNormal(low, high float64, rng *rand.Rand) float64 {
	if high < -low {
		return -truncatedNormal(-high, -low, rng)
	}
	if low < tail {
		below, above := math.Erf(low/math.Sqrt2), math.Erf(high/math.Sqrt2)
		at := min(below+(above-below)*rng.Float64(), 1-0x1p-53) // rounding must not make it 1
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
	return -z*z/2 - math.Log(z*math.Sqrt(2*math.Pi)) // with an error of about a thousandth
}
