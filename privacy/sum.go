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

// sumDistance bounds the total variation distance between such noise and rounded
// continuous Gaussian noise of the same variance, over all coordinates.
func sumDistance(sigma float64, n, dimension int) float64 {
	each := roundingDistance(sigma*math.Sqrt(float64(n))) + math.Expm1(sumExcess(sigma, n))
	return float64(dimension) * each
}
