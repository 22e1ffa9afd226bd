package surrogate

import "gonum.org/v1/gonum/mat"

// JointPosterior is an optional interface of a Posterior that computes the joint distribution of
// the function's values at several points. The posteriors of both kinds of Model implement it.
type JointPosterior interface {
	Posterior
	// Joint returns the joint distribution of the function's values at k >= 1 points, each of
	// length task.Space.Dim. It panics on other lengths and if there are no points.
	Joint(points [][]float64) Joint
	// MeanGradient fills grad, which has the length of x, with the gradient of the mean at x, and
	// returns the mean. For the exact process with t observations it takes O(t), and
	// PredictGradient takes O(t²).
	MeanGradient(grad, x []float64) float64
}

// Joint is the joint normal distribution of the function's values at k points, in standardised
// units and without the noise of an observation. It is immutable and safe for concurrent use.
type Joint interface {
	// Mean returns a copy of the k means. Covariance returns a copy of the k×k covariance, which
	// may be singular, for example if two points are equal.
	Mean() []float64
	Covariance() *mat.SymDense
	// Cross fills dst (length k) with the covariances between the function at x and at each of the
	// k points.
	Cross(dst, x []float64)
	// CrossGradient fills grad, which has the length of x, with the gradient at x of a weighted sum
	// of the covariances that Cross returns. weights has length k. It costs no more than Cross.
	// Callers that apply the chain rule need only such sums.
	CrossGradient(grad, weights, x []float64)
}

var (
	_ JointPosterior = (*exactPosterior)(nil)
	_ JointPosterior = (*linearPosterior)(nil)
)

func (p *exactPosterior) Joint(points [][]float64) Joint { return p.process.Joint(points) }

func (p *linearPosterior) Joint(points [][]float64) Joint { return p.weights.Joint(points) }

func (p *exactPosterior) MeanGradient(grad, x []float64) float64 {
	return p.process.MeanGradient(grad, x)
}

func (p *linearPosterior) MeanGradient(grad, x []float64) float64 {
	mean, _ := p.weights.PredictGradient(grad, make([]float64, len(x)), x)
	return mean
}
