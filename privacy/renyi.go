package privacy

import "math"

// epsilonAt converts Rényi differential privacy (RDP) of order alpha > 1 to ε at delta (CKS 2020,
// Proposition 12). The result may be negative.
func epsilonAt(rdp, alpha, delta float64) float64 {
	return rdp + math.Log1p(-1/alpha) - (math.Log(delta)+math.Log(alpha))/(alpha-1)
}

// epsilonConcentrated returns the smallest ε over all orders for releases of ρ-zCDP, whose Rényi
// divergence of order α is ρα. The derivative of epsilonAt(ρα, α, δ) with respect to α is ρ +
// ln(δα)/(α−1)². It has the sign of (α−1)²ρ + ln(δα), which grows with α. So there is one minimum,
// which bisection finds. Every order gives a valid ε, so an inexact minimum only makes the result
// larger than necessary.
func epsilonConcentrated(rho, delta float64) float64 {
	if rho == 0 {
		return 0
	}
	// low and high are logarithms of α−1. At high, (α−1)²ρ alone exceeds −ln δ.
	low, high := -40.0, 1+0.5*math.Log(max(1, -math.Log(delta))/rho)
	high = max(high, low+1)
	for range 100 {
		middle := (low + high) / 2
		less := math.Exp(middle)
		if less*less*rho+math.Log(delta)+math.Log1p(less) < 0 {
			low = middle
		} else {
			high = middle
		}
	}
	alpha := 1 + math.Exp(high)
	return max(0, epsilonAt(rho*alpha, alpha, delta))
}

// orders returns the Rényi orders at which the cost of sampled releases is computed: 1.1 to 10.9 in
// steps of 0.1, 11 to 63, 128, 256, 512 and 1024.
func orders() []float64 {
	var list []float64
	for tenths := 11; tenths < 110; tenths++ {
		list = append(list, float64(tenths)/10)
	}
	for alpha := 11; alpha <= 63; alpha++ {
		list = append(list, float64(alpha))
	}
	return append(list, 128, 256, 512, 1024)
}

func whole(alpha float64) bool { return alpha == math.Trunc(alpha) }
