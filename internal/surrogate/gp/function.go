package gp

import (
	"math"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/fourier"
	"github.com/fbo-node/fbo/internal/radial"
)

// onStack is the largest number of coordinates for which Gradient allocates no memory.
const onStack = 64

// Function is one sample path of a posterior. It is immutable and safe for concurrent use.
type Function struct {
	dim      int
	prior    *fourier.Sum
	update   *radial.Sum
	constant float64
}

// drawPrior draws a prior sample path without the constant part: random features, as many cosines
// and sines as rows, with random weights. It also draws the constant.
func (p *Posterior) drawPrior(rows int, rng *rand.Rand) (prior *fourier.Sum, constant float64) {
	frequencies := make([]float64, rows*len(p.inverse))
	weights := make([]float64, 2*rows)
	amplitude := math.Sqrt(1 / float64(rows))
	for i := range rows {
		scale := 1.0
		if p.spec.Kernel == Matern52 {
			// The spectral density is a multivariate t with five degrees of freedom.
			scale = 1 / math.Sqrt(chiSquare(5, rng)/5)
		}
		row := frequencies[i*len(p.inverse) : (i+1)*len(p.inverse)]
		for k, inverse := range p.inverse {
			row[k] = rng.NormFloat64() * scale * inverse
		}
		weights[2*i] = amplitude * rng.NormFloat64()
		weights[2*i+1] = amplitude * rng.NormFloat64()
	}
	return fourier.NewWaves(len(p.inverse), frequencies).Sum(weights), math.Sqrt(p.spec.meanVariance()) * rng.NormFloat64()
}

// chiSquare draws from the chi-squared distribution. gonum's distuv has the same distribution, but
// other draws: the same seed would give other designs.
func chiSquare(degrees int, rng *rand.Rand) float64 {
	sum := 0.0
	for range degrees {
		z := rng.NormFloat64()
		sum += z * z
	}
	return sum
}

// Constant returns the constant part of the sample path.
func (f *Function) Constant() float64 { return f.constant }

// Value returns the function at x (length d). It panics on a wrong length.
func (f *Function) Value(x []float64) float64 {
	checkPoint(x, f.dim)
	return f.prior.Value(x) + f.update.Value(x) + f.constant
}

// Values fills dst (length n) with the function at n points, row-major in points (length n·d). It
// panics on wrong lengths.
func (f *Function) Values(dst, points []float64) {
	if len(points) != len(dst)*f.dim {
		panic("gp: points do not fit their values")
	}
	for i := range dst {
		dst[i] = f.Value(points[i*f.dim : (i+1)*f.dim])
	}
}

// Gradient fills grad (length d) with the gradient at x and returns the value.
func (f *Function) Gradient(grad, x []float64) float64 {
	checkPoint(x, f.dim)
	value := f.prior.Gradient(grad, x) + f.constant
	var few [onStack]float64
	update := few[:]
	if f.dim > onStack {
		update = make([]float64, f.dim)
	}
	value += f.update.Gradient(update[:f.dim], x)
	for k, v := range update[:f.dim] {
		grad[k] += v
	}
	return value
}
