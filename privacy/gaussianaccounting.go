package privacy

import "math"

// gaussianDelta returns the smallest δ at which continuous Gaussian releases with sensitivity Δ and
// noise σ are (ε, δ)-private. With μ = √Σ(Δ/σ)², summed over the releases, it is Φ(μ/2 − ε/μ) −
// e^ε·Φ(−μ/2 − ε/μ) (Balle, Wang 2018, Theorem 8; Dong, Roth, Su 2019, Corollary 2.13). The result
// includes a margin above the rounding errors of the difference.
func gaussianDelta(mu, epsilon float64) float64 {
	if mu == 0 {
		return 0
	}
	near, far := epsilon/mu-mu/2, epsilon/mu+mu/2
	first := math.Erfc(near/math.Sqrt2) / 2
	// Computed in logarithms, since e^ε may overflow although the product is small.
	second := math.Exp(epsilon + math.Log(math.Erfc(far/math.Sqrt2)/2))
	margin := (1 + far*far + epsilon) * 0x1p-50 * first
	return max(0, first-second+margin)
}

// gaussianEpsilon returns the smallest ε ≥ 0, except for a part in 10^12, at which gaussianDelta is
// at most delta. gaussianDelta(mu, result) ≤ delta holds exactly.
func gaussianEpsilon(mu, delta float64) float64 {
	if gaussianDelta(mu, 0) <= delta {
		return 0
	}
	low, high := 0.0, 1.0
	for gaussianDelta(mu, high) > delta {
		low, high = high, 2*high
		if math.IsInf(high, 1) {
			return high
		}
	}
	for range 200 {
		middle := (low + high) / 2
		if high-low <= 1e-12*high {
			break
		}
		if gaussianDelta(mu, middle) > delta {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// reach is the number of standard deviations of noise that roundingRatio covers. Larger noise has a
// probability below 2·exp(logBeyond), which is negligible compared with every allowed δ.
const (
	reach     = 40
	logBeyond = -(reach - 0.5) * (reach - 0.5) / 2
)

// roundingRatio bounds the difference between discrete Gaussian noise of scale sigma ≥ 1 and
// continuous Gaussian noise rounded to the nearest integer. Let p(k) and q(k) be the probabilities
// of the integer k under the two. Then
//
//	p(k) ≤ e^low·q(k) for all k,   q(k) ≤ e^high·p(k) for |k| ≤ reach·σ,
//
// low = 1/24σ² and high = (reach²+1)/24σ².
//
// Proof. p(k) = exp(−k²/2σ²)/Z with Z = √2π·σ·(1 + 2·Σ exp(−2π²σ²m²)), m ≥ 1 (Poisson summation),
// and q(k) is the integral of exp(−(k+s)²/2σ²)/√2π·σ over s in [−½, ½]. So q(k)/p(k) is a product
// of two factors. The first is Z/√2π·σ, which is at least 1 and at most exp(3·exp(−2π²σ²)). The
// second is the mean of exp(−(ks + s²/2)/σ²) over s. By Jensen's inequality the mean is at least
// exp(−1/24σ²). It is at most the mean of exp(−ks/σ²), which is sinh(a)/a ≤ exp(a²/6) with a =
// k/2σ², and a²/6 = k²/24σ⁴. Finally, 3·exp(−2π²σ²) ≤ 1/24σ².
func roundingRatio(sigma, reach float64) (low, high float64) {
	low = 1 / (24 * sigma * sigma)
	return low, (reach*reach + 1) * low
}
