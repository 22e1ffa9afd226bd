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

// roundingDistance bounds the total variation distance between discrete Gaussian
// noise of scale sigma ≥ 1 and continuous Gaussian noise rounded to the nearest
// integer, per coordinate: 1/8σ².
//
// Proof. Write φ for the continuous density. ∫φ over [k−½, k+½] differs from φ(k)
// by at most ⅛·∫|φ″| over it (Taylor with remainder, whose kernel ½(½−|s|)² is at
// most ⅛), and ∫|φ″| over the line is four times the largest slope of φ, 0.242/σ².
// So Σ|φ(k) − ∫φ| ≤ 0.121/σ². Hence Σφ(k) is as close to 1, and dividing by it to
// obtain the discrete Gaussian moves it by as much again; half the sum of both is
// 0.121/σ².
//
// An integer plus rounded noise is the rounded sum of the integer and the noise, so
// that what holds for continuous Gaussian releases, adaptive or not, holds for the
// rounded ones, and for discrete Gaussian ones with δ larger by (1+e^ε) times the
// sum of the distances.
func roundingDistance(sigma float64) float64 { return 1 / (8 * sigma * sigma) }
