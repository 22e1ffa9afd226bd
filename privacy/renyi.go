package privacy

import "math"

// epsilonAt converts Rényi differential privacy of order alpha > 1 to ε at delta
// (CKS 2020, Proposition 12). It is not clamped at zero.
func epsilonAt(rdp, alpha, delta float64) float64 {
	return rdp + math.Log1p(-1/alpha) - (math.Log(delta)+math.Log(alpha))/(alpha-1)
}

// epsilonConcentrated is the least ε over all orders for releases of ρ-zCDP, whose
// Rényi divergence of order α is ρα. The derivative of epsilonAt(ρα, α, δ) is
// ρ + ln(δα)/(α−1)², which has the sign of (α−1)²ρ + ln(δα), a growing function of
// α: one minimum, found by bisection. Every order gives a true ε, so an inexact
// minimum only costs tightness.
func epsilonConcentrated(rho, delta float64) float64 {
	if rho == 0 {
		return 0
	}
	// Logarithms of α−1; at the upper end (α−1)²ρ alone outweighs ln δ.
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

// orders lists the Rényi orders at which sampled releases are accounted:
// 1.1 to 10.9 by tenths, 11 to 63, 128, 256, 512, 1024.
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
