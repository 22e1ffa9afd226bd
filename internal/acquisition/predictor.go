package acquisition

import "math"

// Predictor is a posterior over a function. It is safe for concurrent use.
type Predictor interface {
	// Predict returns the mean and the variance, at least 0, of the noise-free function at x.
	Predict(x []float64) (mean, variance float64)
	// PredictGradient does the same and fills dMean and dVariance, as long as x, with the
	// gradients.
	PredictGradient(dMean, dVariance, x []float64) (mean, variance float64)
}

// score is an acquisition function of the mean and the standard deviation at one point.
type score interface {
	// value returns the score; sd is at least 0.
	value(mean, sd float64) float64
	// slopes returns it with its derivatives. At sd = 0 the derivative by sd is not used.
	slopes(mean, sd float64) (value, byMean, bySD float64)
}

// scored is the acquisition function of a posterior and a score.
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

// Gradient treats a point without variance as if the variance were constant around it: it is the
// variance's minimum, and the deviation has no gradient there.
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
