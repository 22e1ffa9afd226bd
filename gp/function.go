package gp

import (
	"math"
	"math/rand/v2"
)

// Function is one sample path of a posterior. It is immutable and safe for
// concurrent use.
type Function struct {
	metric      metric
	frequencies []float64 // row-major, one row per pair of weights
	weights     []float64 // of the cosine and the sine of each row, in turn
	x           [][]float64
	update      []float64 // weights of k(., x)
}

func (f *Function) drawPrior(rows int, rng *rand.Rand) {
	dim := len(f.metric.inverse)
	f.frequencies = make([]float64, rows*dim)
	f.weights = make([]float64, 2*rows)
	amplitude := math.Sqrt(1 / float64(rows))
	for i := range rows {
		scale := 1.0
		if f.metric.kernel == Matern52 {
			// The spectral density is a multivariate t with five degrees.
			scale = 1 / math.Sqrt(chiSquare(5, rng)/5)
		}
		for k, inverse := range f.metric.inverse {
			f.frequencies[i*dim+k] = rng.NormFloat64() * scale * inverse
		}
		f.weights[2*i] = amplitude * rng.NormFloat64()
		f.weights[2*i+1] = amplitude * rng.NormFloat64()
	}
}

// isPrior tells that the observations have not yet entered.
func (f *Function) isPrior() bool { return f.update == nil }

func chiSquare(degrees int, rng *rand.Rand) float64 {
	sum := 0.0
	for range degrees {
		z := rng.NormFloat64()
		sum += z * z
	}
	return sum
}

// Value returns the function at x (length d). Panics on a wrong length.
func (f *Function) Value(x []float64) float64 {
	f.metric.checkPoint(x)
	dim := len(x)
	sum := 0.0
	for i := range len(f.weights) / 2 {
		phase := 0.0
		for k, s := range f.frequencies[i*dim : (i+1)*dim] {
			phase += s * x[k]
		}
		sin, cos := math.Sincos(phase)
		sum += f.weights[2*i]*cos + f.weights[2*i+1]*sin
	}
	if f.isPrior() {
		return sum
	}
	for i, row := range f.x {
		k, _ := f.metric.between(x, row)
		sum += f.update[i] * k
	}
	return sum
}

// Gradient fills grad (length d) with the gradient at x and returns the value.
func (f *Function) Gradient(grad, x []float64) float64 {
	f.metric.checkPoint(x)
	dim := len(x)
	grad = grad[:dim]
	clear(grad)
	sum := 0.0
	for i := range len(f.weights) / 2 {
		row := f.frequencies[i*dim : (i+1)*dim]
		phase := 0.0
		for k, s := range row {
			phase += s * x[k]
		}
		sin, cos := math.Sincos(phase)
		a, b := f.weights[2*i], f.weights[2*i+1]
		sum += a*cos + b*sin
		slope := b*cos - a*sin
		for k, s := range row {
			grad[k] += slope * s
		}
	}
	for i, row := range f.x {
		value, slope := f.metric.between(x, row)
		sum += f.update[i] * value
		slope *= f.update[i]
		for k, inverse := range f.metric.inverse {
			grad[k] -= slope * (x[k] - row[k]) * inverse * inverse
		}
	}
	return sum
}
