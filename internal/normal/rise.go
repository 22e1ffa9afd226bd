package normal

import "math"

// Rise describes h(a) - h(b) for the h of [Excess] and b < a, relative to h(a). For a normal
// variable X with mean z and variance 1, it is the expected value of X clipped to an interval of
// length a-b, above the lower bound of the interval.
type Rise struct {
	Factor  float64 // (h(a) - h(b))/h(a), above 0 and at most 1
	Between float64 // (Φ(a) - Φ(b))/(h(a) - h(b))
	Drop    float64 // (φ(a) - φ(b))/(h(a) - h(b))
}

// Tail is h at one point in the form of [LogExcess], so that several calls of [RiseOf] can use it.
type Tail struct{ Z, LogExcess, CumulativeRatio, DensityRatio float64 }

// TailOf returns h at z.
func TailOf(z float64) Tail {
	t := Tail{Z: z}
	t.LogExcess, t.CumulativeRatio, t.DensityRatio = LogExcess(z)
	return t
}

// RiseOf returns the rise from b to a. For close points, where the difference would lose digits, it
// uses the Taylor series of Φ around their centre.
func RiseOf(b, a Tail) Rise {
	width, centre := a.Z-b.Z, (a.Z+b.Z)/2
	square := width * width
	if width*max(1, math.Abs(centre)) >= narrowWidth {
		f := -math.Expm1(b.LogExcess - a.LogExcess)
		e := 1 - f
		return Rise{f, (a.CumulativeRatio - b.CumulativeRatio*e) / f, (a.DensityRatio - b.DensityRatio*e) / f}
	}
	value, ratio := LogCDF(centre)
	mean := 1 - centre*ratio*square/24 // of Φ between b and a, divided by Φ at the centre
	return Rise{
		Factor:  width * mean * math.Exp(value-a.LogExcess),
		Between: ratio * (1 + square*(centre*centre-1)/24) / mean,
		Drop:    -centre * ratio * (1 + square*(centre*centre-3)/24) / mean,
	}
}
