package acquisition

import "math"

// Below -tail the standard normal functions come from a continued fraction,
// because differences of erfc lose all digits there.
const (
	tail        = 5.0
	tailTerms   = 40 // 30 give all digits at the tail, fewer beyond
	halfLog2Pi  = 0.91893853320467274178
	rootHalf    = 1 / math.Sqrt2
	inverse2Pi  = 0.39894228040143267794 // 1/sqrt(2 pi)
	upperBranch = 1.0                    // from here 1 - Φ is the more exact
)

// density is that of the standard normal distribution.
func density(z float64) float64 { return inverse2Pi * math.Exp(-z*z/2) }

// cumulative is the standard normal distribution function.
func cumulative(z float64) float64 { return math.Erfc(-z*rootHalf) / 2 }

// fraction returns 1/(z + 2/(z + 3/(z + ...))) for z >= tail. Then
//
//	Φ(-z) = φ(z) / (z + fraction)
//
// (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.14), and
// φ(z) - z·Φ(-z) = φ(z) · fraction/(z + fraction) follows without any
// difference.
func fraction(z float64) float64 {
	below := z
	for term := float64(tailTerms); term >= 2; term-- {
		below = z + term/below
	}
	return 1 / below
}

// logCumulative returns log Φ(z) and its derivative φ(z)/Φ(z).
func logCumulative(z float64) (value, slope float64) {
	switch {
	case z <= -tail:
		k := fraction(-z)
		return -z*z/2 - halfLog2Pi - math.Log(k-z), k - z
	case z >= upperBranch:
		return math.Log1p(-cumulative(-z)), density(z) / cumulative(z)
	}
	c := cumulative(z)
	return math.Log(c), density(z) / c
}

// excess returns h(z) = φ(z) + z·Φ(z), the expected positive part of a normal
// variable with mean z and variance 1, and the Φ(z) and φ(z) that it is made of.
func excess(z float64) (h, c, d float64) {
	d = density(z)
	if z <= -tail {
		k := fraction(-z)
		return d * k / (k - z), d / (k - z), d
	}
	c = cumulative(z)
	return d + z*c, c, d
}

// logExcess returns log h(z), and the ratios Φ(z)/h(z), which is its derivative,
// and φ(z)/h(z).
func logExcess(z float64) (value, cumulativeRatio, densityRatio float64) {
	if z <= -tail {
		k := fraction(-z)
		return -z*z/2 - halfLog2Pi + math.Log(k) - math.Log(k-z), 1 / k, (k - z) / k
	}
	h, c, d := excess(z)
	return math.Log(h), c / h, d / h
}
