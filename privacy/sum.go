package privacy

import "math"

// sumExcess is τ of Kairouz, Liu, Steinke 2021, Proposition 14:
// the probabilities of the sum of n discrete Gaussians of scale sigma and of the one
// discrete Gaussian of scale σ√n differ by a factor of at most e^τ,
//
//	τ = 10·Σ_{k=1}^{n−1} exp(−2π²σ²·k/(k+1)),
//
// if sigma ≥ ½. It is zero for n = 1, else never zero: what underflows is replaced
// by the smallest float, for it is a bound.
//
// It holds as well when the scales differ and each is at least sigma, the variances
// adding up to that of the one, as among nodes of which some add more noise than is
// due. Proof. With scales a and b the sum takes z with a probability proportional to
// exp(−z²/2(a²+b²)) times Σ exp(−(x−cz)²/2s²) over the integers x, where
// c = a²/(a²+b²) and s = ab/√(a²+b²). That sum lies within √2π·s·(1 ± 2.1·h),
// h = exp(−2π²s²), whatever cz is (Poisson summation, s² ≥ ⅛), so that the probabilities
// of sum and one noise differ by a factor of at most (1+2.1·h)/(1−2.1·h) ≤ e^5h. Add one
// part after another: when k of them are in, a² ≥ kσ² and b² ≥ σ², hence
// s² ≥ σ²k/(k+1), and the factors multiply.
func sumExcess(sigma float64, n int) float64 {
	if n == 1 {
		return 0
	}
	tau := 0.0
	for k := 1; k < n; k++ {
		term := math.Exp(-2 * math.Pi * math.Pi * sigma * sigma * float64(k) / float64(k+1))
		if term < math.SmallestNonzeroFloat64*0x1p60 {
			// Terms fall with k: the rest are smaller still.
			tau += float64(n-k) * math.SmallestNonzeroFloat64 * 0x1p60
			break
		}
		tau += term
	}
	return 10 * tau
}

// sumConcentration is ρ of one release whose noise is the sum of n discrete
// Gaussians of scale sigma: ½(Δ/√nσ + τ√d)² (Proposition 14, third bound), for
// d coordinates and sensitivity Δ. For n = 1 it is Δ²/2σ², exactly.
func sumConcentration(sensitivity, sigma float64, n, dimension int) float64 {
	root := sensitivity/(math.Sqrt(float64(n))*sigma) + sumExcess(sigma, n)*math.Sqrt(float64(dimension))
	return root * root / 2
}

// sumRatio bounds how far apart the noise of a release of this many numbers is from
// rounded continuous noise of the same variance: the sum of both logarithms of
// roundingRatio, with the excess of a sum in each, over all numbers.
func sumRatio(sigma float64, n, dimension int) float64 {
	low, high := roundingRatio(sigma*math.Sqrt(float64(n)), reach)
	return float64(dimension) * (low + high + 2*sumExcess(sigma, n))
}
