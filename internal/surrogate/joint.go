package surrogate

import "gonum.org/v1/gonum/mat"

// JointPosterior is what a Posterior may be too, when it knows how the values of
// the function at several points go together. Those of both kinds of Model are.
type JointPosterior interface {
	Posterior
	// Joint returns the joint distribution of the function at k >= 1 points, each
	// as long as the space's Dim. It panics on other lengths and without points.
	Joint(points [][]float64) Joint
	// MeanGradient fills grad, as long as x, with the gradient of the mean at x and returns
	// the mean. Of the exact process that takes O(t), where PredictGradient takes O(t²).
	MeanGradient(grad, x []float64) float64
}

// Joint is the normal distribution of the function at k points together, in
// standardised units and without the noise of an observation. It is immutable
// and safe for concurrent use.
type Joint interface {
	// Mean returns the k means and Covariance the k×k covariances, copies both.
	// The covariance may be singular, as for equal points.
	Mean() []float64
	Covariance() *mat.SymDense
	// Cross fills dst (length k) with the covariances of the function at x with
	// that at the points.
	Cross(dst, x []float64)
	// CrossGradient fills grad, as long as x, with the gradient at x of the sum of
	// those covariances, each times its weight (length k). Sums are all that the
	// chain rule asks for, and one costs no more than Cross.
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
