package alone

import (
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy/search"
)

// given is a posterior given that the function has its posterior mean at one design, without noise.
// The mean is that of the posterior. The variance at x is v(x) - c(x)²/v, where c(x) is the
// covariance with the value at the design, and v the variance of that value.
type given struct {
	surrogate.JointPosterior
	joint    surrogate.Joint
	variance float64 // v
}

// overIncumbent returns the predictor for the expected improvement over the design with the largest
// posterior mean among designs, and that mean. Its variance at the design is 0 and grows with the
// distance from it: the uncertainty that f(x) and the incumbent's value have in common is no
// improvement. Otherwise a design measured with noise would keep an expected improvement of 0.4
// times its own standard deviation. A posterior that has no joint distributions is returned as it
// is. If designs is empty, the mean is -Inf.
func overIncumbent(posterior surrogate.Posterior, designs [][]float64) (search.Predictor, float64) {
	best, incumbent := bestMean(posterior, designs)
	whole, ok := posterior.(surrogate.JointPosterior)
	if !ok || incumbent == nil {
		return posterior, best
	}
	joint := whole.Joint([][]float64{incumbent})
	variance := joint.Covariance().At(0, 0)
	if !(variance > 0) {
		return posterior, best
	}
	return &given{whole, joint, variance}, best
}

// Predict implements search.Predictor.
func (g *given) Predict(x []float64) (mean, variance float64) {
	mean, variance = g.JointPosterior.Predict(x)
	var cross [1]float64
	g.joint.Cross(cross[:], x)
	return mean, max(variance-cross[0]*cross[0]/g.variance, 0)
}

// PredictGradient implements search.Predictor.
func (g *given) PredictGradient(ofMean, ofVariance, x []float64) (mean, variance float64) {
	mean, variance = g.JointPosterior.PredictGradient(ofMean, ofVariance, x)
	var cross [1]float64
	g.joint.Cross(cross[:], x)
	slope := make([]float64, len(x))
	g.joint.CrossGradient(slope, []float64{-2 * cross[0] / g.variance}, x)
	if variance -= cross[0] * cross[0] / g.variance; variance < 0 {
		clear(ofVariance)
		return mean, 0
	}
	for i := range slope {
		ofVariance[i] += slope[i]
	}
	return mean, variance
}
