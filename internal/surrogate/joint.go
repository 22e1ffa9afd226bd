package surrogate

import "gonum.org/v1/gonum/mat"

// JointPosterior is an optional interface of a Posterior that computes the joint distribution of
// the function at several points. The posteriors of both kinds of Model implement it.
type JointPosterior interface {
	Posterior
	// Joint returns the joint distribution of the function at k >= 1 points, each
	// as long as the space's Dim. It panics on other lengths and without points.
	Joint(points [][]float64) Joint
	// MeanGradient fills grad, as long as x, with the gradient of the mean at x and returns the
	// mean. For the exact process it takes O(t), where PredictGradient takes O(t²).
	MeanGradient(grad, x []float64) float64
}

// Joint is the joint normal distribution of the function at k points, in standardised units and
// without the noise of an observation. It is immutable and safe for concurrent use.
type Joint interface {
	// Mean returns the k means and Covariance the k×k covariances, both as copies. The covariance
	// may be singular, as for equal points.
	Mean() []float64
	Covariance() *mat.SymDense
	// Cross fills dst (length k) with the covariances between the function at x and at the points.
	Cross(dst, x []float64)
	// CrossGradient fills grad, as long as x, with the gradient at x of the sum of those
	// covariances, each times its weight (length k). The chain rule needs only sums, and one costs
	// no more than Cross.
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
