package rff

import "math"

// The functions below follow the rules of frequency.go, so their results have the same bits on
// every processor.

// The coefficients of the algorithm PPND16 of Wichura, "Algorithm AS 241: The Percentage Points of
// the Normal Distribution" (Applied Statistics 37, 1988), with a relative error of about 1e-16. Top
// is a numerator and Bottom its denominator; the constant term comes first.
var (
	centralTop = [8]float64{
		3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
	}
	centralBottom = [8]float64{
		1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
	}
	outerTop = [8]float64{
		1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
	}
	outerBottom = [8]float64{
		1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
	}
	tailTop = [8]float64{
		6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
	}
	tailBottom = [8]float64{
		1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
	}
)

// normalQuantile returns the inverse of the standard normal distribution function, for u
// in (0, 1).
func normalQuantile(u float64) float64 {
	q := u - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * polynomial(&centralTop, r) / polynomial(&centralBottom, r)
	}
	r := math.Sqrt(-logarithm(min(u, 1-u)))
	var value float64
	if r <= 5 {
		r -= 1.6
		value = polynomial(&outerTop, r) / polynomial(&outerBottom, r)
	} else {
		r -= 5
		value = polynomial(&tailTop, r) / polynomial(&tailBottom, r)
	}
	return math.Copysign(value, q)
}

func polynomial(coefficients *[8]float64, x float64) float64 {
	sum := 0.0
	for k := len(coefficients) - 1; k >= 0; k-- {
		sum = float64(sum*x) + coefficients[k]
	}
	return sum
}

// studentQuantile returns the quantile at u in (0, 1) of sqrt(chi2/5), where chi2 has the
// chi-squared distribution with five degrees of freedom. studentScale draws from the same
// distribution.
func studentQuantile(u float64) float64 {
	// For every float64 u below 1 the quantile is below 5, and 60 bisections determine its last
	// bit.
	low, high := 0.0, 8.0
	for range 60 {
		middle := low + float64((high-low)/2)
		if studentDistribution(middle) < u {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// studentDistribution returns the distribution function of sqrt(chi2/5) at x. It equals the
// regularised incomplete gamma function P(a, z) with a = 5/2 and z = 5x²/2, computed by its series
// (Abramowitz and Stegun 6.5.29): z^a e^-z / Gamma(a+1) (1 + z/(a+1) + z²/((a+1)(a+2)) + ...).
func studentDistribution(x float64) float64 {
	z := float64(x*x) * 2.5
	term, sum := 1.0, 1.0
	for n := 1.0; term > 0x1p-60*sum; n++ {
		term = term * z / (2.5 + n)
		sum += term
	}
	// Gamma(7/2) = 15 sqrt(pi) / 8.
	const gamma = 15 * 1.7724538509055160273 / 8
	return float64(float64(z*z)*math.Sqrt(z)) * exponential(-z) / gamma * sum
}

// exponential returns e^x for |x| below 700, with an error of a few units in the last place.
func exponential(x float64) float64 {
	// ln 2 is split into two parts. The first ends with 32 zero bits, so its product with an
	// integer exponent is exact.
	const ln2High, ln2Low = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	exponent := math.Floor(float64(x/math.Ln2) + 0.5)
	r := x - float64(exponent*ln2High) - float64(exponent*ln2Low)
	// |r| < 0.35, so sixteen terms reach below 1e-21.
	const terms = 16
	sum := 1.0
	for k := terms; k >= 1; k-- {
		sum = 1 + float64(float64(r/float64(k))*sum)
	}
	return math.Ldexp(sum, int(exponent))
}
