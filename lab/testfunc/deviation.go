package testfunc

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"
)

// The standard deviations of the functions at a uniform point of their published spaces. All digits
// are correct, except for the last one or two of ackleyDeviations.
const (
	braninDeviation    = 51.2512177  // Gauss-Legendre rule, 64 points a coordinate
	hartmann3Deviation = 0.955586276 // Gauss-Legendre rule, 40 points a coordinate
	hartmann6Deviation = 0.384827213 // products of integrals over one coordinate
	mixedDeviation     = 12.7027490  // Gauss-Legendre rule, 64 points for each float

	// 1/(w+r²) is the integral over s > 0 of exp(-s(w+r²)), whose integrals over the space are
	// products of error functions. The integral over ln s is by the trapezoidal rule with steps of
	// 1/4 and 1/5.
	shekel4Deviation = 0.179894043 // for ten wells
)

// ackleyDeviations holds the values for 1 to 20 coordinates: means over 2^22 points of the lattice
// of M. Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences" (2018).
var ackleyDeviations = [...]float64{
	4.685, 2.38, 1.47, 1.04, 0.8061, 0.6651, 0.5724, 0.5073, 0.4591, 0.4219,
	0.3921, 0.3678, 0.3474, 0.33, 0.3149, 0.3017, 0.2902, 0.2796, 0.2703, 0.2618,
}

func ackleyDeviation(d int) float64 {
	if d > len(ackleyDeviations) {
		return 0
	}
	return ackleyDeviations[d-1]
}

// levyDeviation adds variances, because Levy's function is a sum over coordinates. Each variance
// was computed by the Gauss-Legendre rule with 300 points.
func levyDeviation(d int) float64 {
	const lone, first, middle, last = 10.4976195, 254.888015, 256.414378, 10.2665162
	if d == 1 {
		return math.Sqrt(lone)
	}
	return math.Sqrt(first + float64(d-2)*middle + last)
}

// rosenbrockDeviation adds the variances of the terms, and the covariances of neighbouring terms,
// which have a coordinate in common. Both are exact integrals of polynomials.
func rosenbrockDeviation(d int) float64 {
	const variance, neighbours = 50293045092.9, -2937278571.43
	return math.Sqrt(float64(d-1)*variance + 2*float64(d-2)*neighbours)
}

// griewankDeviation is exact. The bowl is a sum over coordinates, and the dents are a product.
// Their covariance is a sum of products of integrals.
func griewankDeviation(d int) float64 {
	const r = 600.0
	const square, fourth = r * r / 3, r * r * r * r / 5 // means of x² and x⁴
	cosines, cosineSquares, ratios := 1.0, 1.0, 0.0
	for i := range d {
		a := 1 / math.Sqrt(float64(i+1)) // the dents have cos(ax)
		sin, cos := math.Sincos(a * r)
		mean := sin / (a * r)
		both := (r*r*sin/a + 2*r*cos/(a*a) - 2*sin/(a*a*a)) / r // mean of x²·cos(ax)
		cosines *= mean
		cosineSquares *= 0.5 + sin*cos/(2*a*r)
		ratios += both/mean - square
	}
	bowl := float64(d) * (fourth - square*square) / (4000 * 4000)
	dents := cosineSquares - cosines*cosines
	return math.Sqrt(bowl + dents - 2*cosines*ratios/4000)
}

// michalewiczDeviation adds variances, because Michalewicz's function is a sum over coordinates.
func michalewiczDeviation(d int) float64 {
	variance := 0.0
	for i := range d {
		variance += varianceOf(0, math.Pi, func(v float64) float64 { return michalewiczTerm(i, v) })
	}
	return math.Sqrt(variance)
}

// sumDeviation returns the deviation of a sum of the same term over d coordinates in [low, high].
func sumDeviation(d int, low, high float64, term func(v float64) float64) float64 {
	return math.Sqrt(float64(d) * varianceOf(low, high, term))
}

// varianceOf returns the variance of a term at a uniform point of [low, high], by the midpoint rule.
func varianceOf(low, high float64, term func(v float64) float64) float64 {
	const points = 10000
	mean, square := 0.0, 0.0
	for n := range points {
		value := term(low + (float64(n)+0.5)*(high-low)/points)
		mean += value / points
		square += value * value / points
	}
	return square - mean*mean
}

// squaresDeviation is exact: x² has the variance 4r⁴/45 if x is uniform in [-r, r].
func squaresDeviation(d int, weight func(i int) float64) float64 {
	const r = 5.12
	weights := 0.0
	for i := range d {
		weights += weight(i) * weight(i)
	}
	return math.Sqrt(4 * r * r * r * r / 45 * weights)
}

// weierstrassDeviation is exact: over the space the waves are orthogonal.
func weierstrassDeviation(d int) float64 {
	variance := 0.0
	for k := range weierstrassWaves {
		variance += math.Pow(0.25, float64(k)) / 2
	}
	return math.Sqrt(float64(d) * variance)
}

// powellDeviation adds the variances of the blocks. That of one block is an exact integral of a polynomial.
func powellDeviation(d int) float64 {
	const variance = 101305954.761
	return math.Sqrt(float64(d/powellBlock) * variance)
}

// zakharovDeviation is exact. It computes the moments of q = Σ x_i² and s = Σ i·x_i/2, adding one coordinate at a
// time by the binomial theorem.
func zakharovDeviation(d int) float64 {
	const low, high = -5.0, 10.0
	const squares, sums = 2, 8               // largest powers of q and s
	var moment [2*squares + sums + 1]float64 // of one coordinate
	for k := range moment {
		n := float64(k + 1)
		moment[k] = (math.Pow(high, n) - math.Pow(low, n)) / (n * (high - low))
	}
	var mean [squares + 1][sums + 1]float64 // of q^a·s^b
	mean[0][0] = 1
	for i := range d {
		weight := float64(i+1) / 2
		var next [squares + 1][sums + 1]float64
		for a := range next {
			for b := range next[a] {
				for p := range a + 1 {
					for r := range b + 1 {
						next[a][b] += float64(combin.Binomial(a, p)*combin.Binomial(b, r)) * mean[a-p][b-r] *
							math.Pow(weight, float64(r)) * moment[2*p+r]
					}
				}
			}
		}
		mean = next
	}
	first := mean[1][0] + mean[0][2] + mean[0][4]
	second := mean[2][0] + mean[0][4] + mean[0][8] + 2*(mean[1][2]+mean[1][4]+mean[0][6])
	return math.Sqrt(second - first*first)
}
