package privacy

import "math"

// gaussianDelta is the least δ at which continuous Gaussian releases with
// μ = √Σ(Δ/σ)² are (ε, δ)-private: Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) (Balle, Wang
// 2018, Theorem 8; Dong, Roth, Su 2019, Corollary 2.13), with a margin above the
// rounding errors of the difference.
func gaussianDelta(mu, epsilon float64) float64 {
	if mu == 0 {
		return 0
	}
	near, far := epsilon/mu-mu/2, epsilon/mu+mu/2
	first := math.Erfc(near/math.Sqrt2) / 2
	// In logarithms, for e^ε may overflow where the product is small.
	second := math.Exp(epsilon + math.Log(math.Erfc(far/math.Sqrt2)/2))
	margin := (1 + far*far + epsilon) * 0x1p-50 * first
	return max(0, first-second+margin)
}

// gaussianEpsilon is the least ε ≥ 0, but for a part in 10^12, at which
// gaussianDelta is no larger than delta; gaussianDelta(mu, result) ≤ delta holds.
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

// reach is the number of deviations of noise that roundingRatio covers. Noise beyond has a
// probability below 2·exp(logBeyond), next to which no δ is small.
const (
	reach     = 40
	logBeyond = -(reach - 0.5) * (reach - 0.5) / 2
)

// roundingRatio bounds how far apart discrete Gaussian noise of scale sigma ≥ 1 and
// continuous Gaussian noise rounded to the nearest integer are. With p(k) and q(k) the
// probabilities of one number of each,
//
//	p(k) ≤ e^low·q(k) for all k,   q(k) ≤ e^high·p(k) for |k| ≤ reach·σ,
//
// low = 1/24σ² and high = (reach²+1)/24σ².
//
// Proof. p(k) = exp(−k²/2σ²)/Z with Z = √2π·σ·(1 + 2·Σ exp(−2π²σ²m²)), m ≥ 1 (Poisson
// summation), and q(k) is the integral of exp(−(k+s)²/2σ²)/√2π·σ over s in [−½, ½]. So
// q(k)/p(k) is Z/√2π·σ, which is at least 1 and at most exp(3·exp(−2π²σ²)), times the
// mean of exp(−(ks + s²/2)/σ²) over s. By Jensen's inequality the mean is at least
// exp(−1/24σ²). It is at most the mean of exp(−ks/σ²), which is sinh(a)/a ≤ exp(a²/6)
// with a = k/2σ², and a²/6 = k²/24σ⁴. At last 3·exp(−2π²σ²) ≤ 1/24σ².
func roundingRatio(sigma, reach float64) (low, high float64) {
	low = 1 / (24 * sigma * sigma)
	return low, (reach*reach + 1) * low
}
