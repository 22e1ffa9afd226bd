package averageobjective

import (
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
)

// average is the posterior of the average of some agents' objectives, f = Σ_k f_k / K, in units in
// which its prior variance is 1. It is immutable and safe for concurrent use.
type average struct {
	level, unit float64 // in the objective's units, f is level + unit·(f in these units)

	mean *rff.Function

	// The variance at x is left + variance(x). left is its average over the space. Features
	// approximate it, so the sum may lie outside of [0, 1].
	left     float64
	variance *rff.Function
}

var _ acquisition.Predictor = (*average)(nil)

// newAverage returns the average of the objectives of the means' authors, at least one. The order of
// the means changes the last digits of the result.
func newAverage(features *rff.Map, means []protocol.Mean) *average {
	a := &average{}
	count := float64(len(means))
	for _, m := range means {
		a.level += m.Level / count
		a.unit = math.Hypot(a.unit, m.Scale/count)
	}
	mean, variance := make([]float64, features.Features()), make([]float64, features.Features())
	for _, m := range means {
		part := m.Scale / count / a.unit // the squares of all parts sum to 1
		for i := range mean {
			mean[i] += part * m.Values[i]
			variance[i] -= part * part * m.ExplainedWeights[i]
		}
		a.left += part * part * (1 - m.Explained)
	}
	a.mean, a.variance = features.Function(mean), features.Function(variance)
	return a
}

// Predict implements acquisition.Predictor.
func (a *average) Predict(x []float64) (mean, variance float64) {
	return a.mean.Value(x), min(max(a.left+a.variance.Value(x), 0), 1)
}

// PredictGradient implements acquisition.Predictor.
func (a *average) PredictGradient(dMean, dVariance, x []float64) (mean, variance float64) {
	mean = a.mean.Gradient(dMean, x)
	variance = a.left + a.variance.Gradient(dVariance, x)
	if variance <= 0 || variance >= 1 {
		clear(dVariance)
	}
	return mean, min(max(variance, 0), 1)
}

// output converts a mean that Predict returns to the objective's units.
func (a *average) output(mean float64) float64 { return a.level + a.unit*mean }

// exploration is the average objective as one agent explores it: with the mean of the average, and
// with the variance that the average would have if each of the agents had the own posterior's
// variance. So an agent prefers designs at which it is the one that can learn something.
type exploration struct {
	own    strategy.Posterior
	others *average
	agents float64 // K, own and others

	// Factors of the two posteriors in f·K, up to a common factor.
	ofOwn, ofOthers float64
}

var _ acquisition.Predictor = exploration{}

// newExploration returns the exploration of an agent with this posterior. scale converts the
// posterior's values to the objective's units, and count is the number of others.
func newExploration(own strategy.Posterior, scale float64, others *average, count int) exploration {
	total := math.Hypot(scale, float64(count)*others.unit)
	return exploration{own: own, others: others, agents: float64(count + 1), ofOwn: scale / total, ofOthers: float64(count) * others.unit / total}
}

// Predict implements acquisition.Predictor.
func (e exploration) Predict(x []float64) (mean, variance float64) {
	mean, variance = e.own.Predict(x)
	ofOthers, _ := e.others.Predict(x)
	return e.ofOwn*mean + e.ofOthers*ofOthers, e.agents * e.ofOwn * e.ofOwn * variance
}

// PredictGradient implements acquisition.Predictor.
func (e exploration) PredictGradient(dMean, dVariance, x []float64) (mean, variance float64) {
	mean, variance = e.own.PredictGradient(dMean, dVariance, x)
	dOthers := make([]float64, len(x))
	ofOthers := e.others.mean.Gradient(dOthers, x)
	for i := range x {
		dMean[i] = e.ofOwn*dMean[i] + e.ofOthers*dOthers[i]
		dVariance[i] *= e.agents * e.ofOwn * e.ofOwn
	}
	return e.ofOwn*mean + e.ofOthers*ofOthers, e.agents * e.ofOwn * e.ofOwn * variance
}
