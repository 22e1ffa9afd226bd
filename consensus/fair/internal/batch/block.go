package batch

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/surrogate"
)

// block is the value of a batch as a function of one design x, with the others fixed. With v the
// posterior variance at x given observations of the other designs, and σ² the noise variance, x
// adds ½ ln(1 + v/σ²) to the information.
type block struct {
	problem Problem
	utility *utility
	which   int
	means   []float64       // posterior means of all designs; value and Gradient set that of the variable design
	others  surrogate.Joint // joint posterior of the other designs; nil if there are none
	root    *mat.Cholesky   // Cholesky factor of I + Σ/σ² of the other designs
	known   float64         // information that observations of the other designs give
}

// newBlock returns the block whose variable design has index which. ok is false if rounding errors
// prevent the computation.
func newBlock(o *objective, designs [][]float64, which int) (b *block, ok bool) {
	b = &block{problem: o.problem, utility: o.utility, which: which}
	b.means = make([]float64, len(designs))
	var others [][]float64
	others = append(append(others, designs[:which]...), designs[which+1:]...)
	if len(others) == 0 {
		return b, true
	}
	b.others = o.problem.Posterior.Joint(others)
	mean := b.others.Mean()
	copy(b.means, mean[:which])
	copy(b.means[which+1:], mean[which:])
	if b.root, ok = precision(b.others.Covariance(), o.problem.Noise); ok {
		b.known = b.root.LogDet() / 2
	}
	return b, ok
}

// given returns left, the variance at x given observations of the other designs, from the variance
// without them. It also returns along, the covariances with the other designs times the inverse
// covariance of their observations.
func (b *block) given(x []float64, variance float64) (left float64, along []float64) {
	if b.others == nil {
		return variance, nil
	}
	cross := make([]float64, len(b.means)-1)
	b.others.Cross(cross, x)
	solved := mat.NewVecDense(len(cross), nil)
	if err := b.root.SolveVecTo(solved, mat.NewVecDense(len(cross), cross)); err != nil {
		return 0, nil // nearly singular: the function at x counts as known
	}
	along = solved.RawVector().Data
	for i := range along {
		along[i] /= b.problem.Noise
		variance -= along[i] * cross[i]
	}
	return max(variance, 0), along
}

// Value returns the batch's value with the variable design at x.
func (b *block) Value(x []float64) float64 {
	mean, variance := b.problem.Posterior.Predict(x)
	variance, _ = b.given(x, variance)
	return b.value(mean, variance)
}

// value returns the batch's value if the variable design has this mean, and this variance given
// observations of the others.
func (b *block) value(mean, variance float64) float64 {
	b.means[b.which] = mean
	return b.utility.of(b.means, nil) + b.problem.exploration(b.known+math.Log1p(variance/b.problem.Noise)/2)
}

// Gradient fills grad with the derivatives of Value at x, and returns the value.
func (b *block) Gradient(grad, x []float64) float64 {
	byVariance := make([]float64, len(x))
	mean, variance := b.problem.Posterior.PredictGradient(grad, byVariance, x)
	variance, along := b.given(x, variance)
	b.means[b.which] = mean
	slopes := make([]float64, len(b.means))
	exploration := b.problem.exploration(b.known + math.Log1p(variance/b.problem.Noise)/2)
	value := b.utility.of(b.means, slopes) + exploration
	slope := 0.0
	if exploration > 0 {
		slope = b.problem.Alpha / (4 * exploration * (b.problem.Noise + variance))
	}
	byCross := make([]float64, len(x))
	if along != nil {
		b.others.CrossGradient(byCross, along, x)
	}
	for k := range grad {
		grad[k] = slopes[b.which]*grad[k] + slope*(byVariance[k]-2*byCross[k])
	}
	return value
}
