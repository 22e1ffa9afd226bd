package rff

import (
	"math"
	"math/rand/v2"
)

// The code below must give the same bits on every processor. Go may fuse a product and a sum into
// one operation with a single rounding, and does so on arm64. Explicit conversions to float64
// therefore round every product before a sum. math.Log, math.Exp and the sines have assembly on
// some processors, so they are not used here. math.Sqrt is correctly rounded on all processors, and
// math.Frexp is exact.

// independentRows returns count rows of dim coordinates, row-major. The rows are independent draws
// from the spectral density of the kernel with lengthscales 1.
func independentRows(kernel string, count, dim int, normal *normalSource) []float64 {
	rows := make([]float64, count*dim)
	for i := range count {
		row := rows[i*dim : (i+1)*dim]
		for k := range row {
			row[k] = normal.next()
		}
		if kernel == Matern52 {
			scale := studentScale(normal)
			for k := range row {
				row[k] /= scale
			}
		}
	}
	return rows
}

// studentScale draws sqrt(chi2/5), where chi2 has five degrees of freedom. A standard normal vector
// divided by this number is distributed by the spectral density of the Matérn-5/2 kernel, a
// multivariate t with 2·5/2 degrees of freedom (Rasmussen and Williams, "Gaussian Processes for
// Machine Learning", equation 4.15).
func studentScale(normal *normalSource) float64 {
	const degrees = 5
	sum := 0.0
	for range degrees {
		z := normal.next()
		sum += float64(z * z)
	}
	return math.Sqrt(sum / degrees)
}

// normalSource draws standard normal numbers by Marsaglia's polar method.
type normalSource struct {
	rng   *rand.Rand
	spare float64
	full  bool
}

func (n *normalSource) next() float64 {
	if n.full {
		n.full = false
		return n.spare
	}
	for {
		u, v := symmetric(n.rng), symmetric(n.rng)
		s := float64(u*u) + float64(v*v)
		if s >= 1 || s == 0 {
			continue
		}
		factor := math.Sqrt(float64(-2*logarithm(s)) / s)
		n.spare, n.full = v*factor, true
		return u * factor
	}
}

// symmetric returns a uniform draw from the multiples of 2⁻⁵² in [-1, 1). Every step is exact.
func symmetric(rng *rand.Rand) float64 {
	return float64(int64(rng.Uint64()>>11)-1<<52) / (1 << 52)
}

// logarithm returns the natural logarithm of a positive, normal (not subnormal) float64, with an
// error of a few units in the last place.
func logarithm(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction *= 2
		exponent--
	}
	// ln f = 2 atanh(z) with |z| < 0.172, so the terms beyond the twelfth are below 1e-18.
	z := (fraction - 1) / (fraction + 1)
	square := float64(z * z)
	const terms = 12
	sum := 0.0
	for k := terms; k >= 0; k-- {
		sum = float64(sum*square) + 1/float64(2*k+1)
	}
	return float64(float64(exponent)*math.Ln2) + float64(float64(2*z)*sum)
}
