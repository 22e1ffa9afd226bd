package batch

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/surrogate"
)

// block is the value of a batch as a function of one of its designs, with the others fixed. The
// design adds ½ ln(1 + v/σ²) to the information, with v its variance given observations of the
// others.
type block struct {
	problem Problem
	utility *utility
	which   int
	means   []float64       // of all designs; value and Gradient set that of the variable one
	others  surrogate.Joint // nil if there are no others
	root    *mat.Cholesky   // of I + Σ/σ² over the others
	known   float64         // information of the others
}

// newBlock returns the block with design number which variable. ok is false if rounding errors prevent
// the computation.
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

// given returns the variance at x given observations of the others, from the variance without them. It
// also returns the covariances with the others times the inverse covariance of their observations.
func (b *block) given(x []float64, variance float64) (left float64, along []float64) {
	if b.others == nil {
		return variance, nil
	}
	cross := make([]float64, len(b.means)-1)
	b.others.Cross(cross, x)
	solved := mat.NewVecDense(len(cross), nil)
	if err := b.root.SolveVecTo(solved, mat.NewVecDense(len(cross), cross)); err != nil {
		return 0, nil // nearly singular: x counts as known
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

// value returns the batch's value with a design of this mean, and of this variance given the others.
func (b *block) value(mean, variance float64) float64 {
	b.means[b.which] = mean
	return b.utility.of(b.means, nil) + b.problem.exploration(b.known+math.Log1p(variance/b.problem.Noise)/2)
}

// Gradient fills grad with the derivatives at x and returns the value.
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
