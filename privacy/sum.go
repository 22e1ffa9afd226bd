package privacy

import "math"

// sumExcess returns τ of Kairouz, Liu, Steinke 2021, Proposition 14. Compare the sum of n discrete
// Gaussians of scale sigma with one discrete Gaussian of scale σ√n. Their probabilities differ by a
// factor of at most e^τ, with
//
//	τ = 10·Σ_{k=1}^{n−1} exp(−2π²σ²·k/(k+1)),
//
// if sigma ≥ ½. The result is zero for n = 1 and otherwise above zero: a term that underflows is
// replaced by the smallest float, so that the result remains an upper bound.
//
// The bound also holds if the scales differ, each is at least sigma, and the variances sum to that
// of the single Gaussian. This is so among nodes of which some add more noise than required. Proof.
// With scales a and b the sum has the value z with a probability proportional to exp(−z²/2(a²+b²))
// times Σ exp(−(x−cz)²/2s²) over the integers x, where c = a²/(a²+b²) and s = ab/√(a²+b²). That sum
// lies within √2π·s·(1 ± 2.1·h), with h = exp(−2π²s²), whatever cz is (Poisson summation, s² ≥ ⅛).
// So the probabilities of the sum and of the single Gaussian differ by a factor of at most
// (1+2.1·h)/(1−2.1·h) ≤ e^5h. Now add one part after another. After k parts a² ≥ kσ² and b² ≥ σ²,
// hence s² ≥ σ²k/(k+1), and the factors multiply.
func sumExcess(sigma float64, n int) float64 {
	if n == 1 {
		return 0
	}
	tau := 0.0
	for k := 1; k < n; k++ {
		term := math.Exp(-2 * math.Pi * math.Pi * sigma * sigma * float64(k) / float64(k+1))
		if term < math.SmallestNonzeroFloat64*0x1p60 {
			// Terms fall with k, so the remaining ones are even smaller.
			tau += float64(n-k) * math.SmallestNonzeroFloat64 * 0x1p60
			break
		}
		tau += term
	}
	return 10 * tau
}

// sumConcentration returns ρ of zCDP for one release whose noise is the sum of n discrete Gaussians
// of scale sigma: ½(Δ/√nσ + τ√d)², for d coordinates and sensitivity Δ (Proposition 14, third
// bound). For n = 1 it is exactly Δ²/2σ².
func sumConcentration(sensitivity, sigma float64, n, dimension int) float64 {
	root := sensitivity/(math.Sqrt(float64(n))*sigma) + sumExcess(sigma, n)*math.Sqrt(float64(dimension))
	return root * root / 2
}

// sumRatio bounds the difference between the noise of a release of `dimension` numbers, a sum of n
// discrete Gaussians, and rounded continuous noise of the same variance. It is the sum over all
// numbers of both logarithms of roundingRatio, each plus the excess of a sum.
func sumRatio(sigma float64, n, dimension int) float64 {
	low, high := roundingRatio(sigma*math.Sqrt(float64(n)), reach)
	return float64(dimension) * (low + high + 2*sumExcess(sigma, n))
}
