package acquisition

import "math"

// Predictor is a posterior of a function. It is safe for concurrent use.
type Predictor interface {
	// Predict returns the mean and the variance, at least 0, of the noise-free function at x.
	Predict(x []float64) (mean, variance float64)
	// PredictGradient returns the same as Predict. It also fills dMean and dVariance, which have
	// the length of x, with the gradients.
	PredictGradient(dMean, dVariance, x []float64) (mean, variance float64)
}

// score is an acquisition function that depends only on the mean and the standard deviation at a
// point.
type score interface {
	// value returns the score; sd is at least 0.
	value(mean, sd float64) float64
	// slopes returns the score and its derivatives. At sd = 0 the derivative with respect to sd is
	// not used.
	slopes(mean, sd float64) (value, byMean, bySD float64)
}

// scored is the acquisition function that applies a score to a posterior.
type scored struct {
	p      Predictor
	by     score
	memory scratch
}

var _ Function = (*scored)(nil)

func (s *scored) Value(x []float64) float64 {
	mean, variance := s.p.Predict(x)
	return s.by.value(mean, math.Sqrt(max(variance, 0)))
}

// Gradient ignores the gradient of the variance at a point with variance 0. Such a point is a
// minimum of the variance, where the standard deviation has no gradient.
func (s *scored) Gradient(grad, x []float64) float64 {
	held := s.memory.take(len(x))
	dVariance := *held
	mean, variance := s.p.PredictGradient(grad, dVariance, x)
	sd := math.Sqrt(max(variance, 0))
	value, byMean, bySD := s.by.slopes(mean, sd)
	byVariance := 0.0
	if sd > 0 {
		byVariance = bySD / (2 * sd)
	}
	for i, slope := range dVariance {
		grad[i] = byMean*grad[i] + byVariance*slope
	}
	s.memory.put(held)
	return value
}
