// Package normal contains the functions of the standard normal distribution that models and
// acquisition functions need. The logarithms of these functions have accurate values and slopes far
// into the tails.
package normal

import "math"

// For arguments below -tail, a continued fraction replaces erfc, because differences of values of
// erfc lose all digits there.
const (
	tail        = 5.0
	tailTerms   = 40 // terms of the continued fraction; at the tail 30 give all digits, and fewer beyond
	halfLog2Pi  = 0.91893853320467274178
	rootHalf    = 1 / math.Sqrt2
	inverse2Pi  = 0.39894228040143267794 // 1/sqrt(2 pi)
	upperBranch = 1.0                    // for arguments from here on, 1 - Φ is more accurate than Φ
)

// Density returns the density φ(z) of the standard normal distribution.
func Density(z float64) float64 { return inverse2Pi * math.Exp(-z*z/2) }

// CDF returns the standard normal distribution function Φ(z).
func CDF(z float64) float64 { return math.Erfc(-z*rootHalf) / 2 }

// fraction returns 1/(z + 2/(z + 3/(z + ...))) for z >= tail. With this fraction,
//
//	Φ(-z) = φ(z) / (z + fraction)
//
// (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.14). It follows that φ(z) -
// z·Φ(-z) = φ(z) · fraction/(z + fraction), which needs no difference of close numbers.
func fraction(z float64) float64 {
	below := z
	for term := float64(tailTerms); term >= 2; term-- {
		below = z + term/below
	}
	return 1 / below
}

// LogCDF returns log Φ(z) and its derivative φ(z)/Φ(z).
func LogCDF(z float64) (value, slope float64) {
	switch {
	case z <= -tail:
		k := fraction(-z)
		return -z*z/2 - halfLog2Pi - math.Log(k-z), k - z
	case z >= upperBranch:
		return math.Log1p(-CDF(-z)), Density(z) / CDF(z)
	}
	c := CDF(z)
	return math.Log(c), Density(z) / c
}

// Excess returns h(z) = φ(z) + z·Φ(z), and its terms c = Φ(z) and d = φ(z). h is the expected value
// of max(X, 0) for a normal variable X with mean z and variance 1.
func Excess(z float64) (h, c, d float64) {
	d = Density(z)
	if z <= -tail {
		k := fraction(-z)
		return d * k / (k - z), d / (k - z), d
	}
	c = CDF(z)
	return d + z*c, c, d
}

// LogExcess returns log h(z) for the h of Excess, and the ratios Φ(z)/h(z) and φ(z)/h(z). The first
// ratio is the derivative of log h.
func LogExcess(z float64) (value, cumulativeRatio, densityRatio float64) {
	if z <= -tail {
		k := fraction(-z)
		return -z*z/2 - halfLog2Pi + math.Log(k) - math.Log(k-z), 1 / k, (k - z) / k
	}
	h, c, d := Excess(z)
	return math.Log(h), c / h, d / h
}

const (
	// MinWidth is the smallest width of an interval, in standard deviations. LogBetween widens
	// narrower intervals to it.
	MinWidth = 1e-6

	narrowWidth = 1e-3 // below this width the shape of the density within the interval hardly matters
)

// LogBetween returns log(Φ(b) - Φ(a)) for a <= b, and its derivatives with respect to a and b.
func LogBetween(a, b float64) (value, byA, byB float64) {
	switch {
	case math.IsInf(a, -1) && math.IsInf(b, 1):
		return 0, 0, 0
	case math.IsInf(a, -1):
		value, byB = LogCDF(b)
		return value, 0, byB
	case math.IsInf(b, 1):
		value, slope := LogCDF(-a)
		return value, -slope, 0
	case a+b > 0: // both bounds are mirrored, because the lower tail is more accurate
		value, byB, byA = LogBetween(-b, -a)
		return value, -byA, -byB
	}
	centre, width := (a+b)/2, max(b-a, MinWidth)
	if width*max(1, math.Abs(centre)) < narrowWidth {
		// Within the narrow interval the log density is a parabola. This is its integral over the
		// interval, to second order in the width.
		value = math.Log(width) - centre*centre/2 - halfLog2Pi + width*width*(centre*centre-1)/24
		byCentre, byWidth := -centre+width*width*centre/12, 1/width+width*(centre*centre-1)/12
		return value, byCentre/2 - byWidth, byCentre/2 + byWidth
	}
	logA, _ := LogCDF(a)
	logB, _ := LogCDF(b)
	value = logB + math.Log(-math.Expm1(logA-logB))
	byA = -math.Exp(-a*a/2 - halfLog2Pi - value)
	byB = math.Exp(-b*b/2 - halfLog2Pi - value)
	return value, byA, byB
}
