package family

import "math"

// The numbers by which test functions are divided are their standard deviations at
// a uniform point of their spaces as published. All digits are right, but of the
// last of ackleyDeviations one or two.
const (
	braninDeviation    = 51.2512177  // Gauss-Legendre rule, 64 points a coordinate
	hartmann3Deviation = 0.955586276 // Gauss-Legendre rule, 40 points a coordinate
	hartmann6Deviation = 0.384827213 // products of integrals over one coordinate

	// 1/(w+r²) is the integral over s > 0 of exp(-s(w+r²)), whose integrals over the
	// space are products of error functions; trapezoidal rule for the logarithm of s,
	// with steps of 1/4 and 1/5.
	shekel4Deviation = 0.179894043
)

// maxClassicDim is the largest number of coordinates of a test function that is
// defined for any.
const maxClassicDim = 20

// ackleyDeviations are for 1 to maxClassicDim coordinates: means over 2^22 points
// of the lattice of function dense.
var ackleyDeviations = [maxClassicDim]float64{
	4.685, 2.38, 1.47, 1.04, 0.8061, 0.6651, 0.5724, 0.5073, 0.4591, 0.4219,
	0.3921, 0.3678, 0.3474, 0.33, 0.3149, 0.3017, 0.2902, 0.2796, 0.2703, 0.2618,
}

func ackleyDeviation(d int) float64 { return ackleyDeviations[d-1] }

// levyDeviation adds variances, since Levy's function is a sum over coordinates;
// each of them is by the Gauss-Legendre rule with 300 points.
func levyDeviation(d int) float64 {
	const lone, first, middle, last = 10.4976195, 254.888015, 256.414378, 10.2665162
	if d == 1 {
		return math.Sqrt(lone)
	}
	return math.Sqrt(first + float64(d-2)*middle + last)
}
