package peerprior

import (
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/rff"
)

// expertPosterior is the posterior of the objective under an expert with peers. The constant c is
// fixed at its posterior mean.
type expertPosterior struct {
	expert   *expert
	prior    *rff.Function // s·m
	residual *gp.Posterior // posterior of r; each observation has its own noise variance
}

var _ acquisition.Predictor = (*expertPosterior)(nil)

func (e *expert) posterior(d *data) (*expertPosterior, error) {
	y, noise := make([]float64, len(d.y)), make([]float64, len(d.y))
	for i, v := range d.y {
		deviation := e.size * e.deviationAt(i)
		y[i] = (v - e.size*e.meanAt(i) - e.level) / deviation
		noise[i] = d.noise(i) / (deviation * deviation)
	}
	residual, err := gp.NewUnequalPosterior(d.spec, d.x, y, d.h, noise)
	if err != nil {
		return nil, err
	}
	return &expertPosterior{e, e.around.function(e.size), residual}, nil
}

// Predict implements acquisition.Predictor.
func (b *expertPosterior) Predict(x []float64) (mean, variance float64) {
	around := b.expert.around
	a, _ := around.deviation(around.left.Value(x))
	a *= b.expert.size
	mean, variance = b.residual.Predict(x)
	return b.prior.Value(x) + b.expert.level + a*mean, a * a * variance
}

// PredictGradient implements acquisition.Predictor.
func (b *expertPosterior) PredictGradient(ofMean, ofVariance, x []float64) (mean, variance float64) {
	around := b.expert.around
	ofPrior, ofLeft := make([]float64, len(x)), make([]float64, len(x))
	a, slope := around.deviation(around.left.Gradient(ofLeft, x))
	a, slope = a*b.expert.size, slope*b.expert.size
	prior := b.prior.Gradient(ofPrior, x)
	mean, variance = b.residual.PredictGradient(ofMean, ofVariance, x)
	for i := range x {
		ofMean[i] = ofPrior[i] + a*ofMean[i] + mean*slope*ofLeft[i]
		ofVariance[i] = a*a*ofVariance[i] + 2*a*variance*slope*ofLeft[i]
	}
	return prior + b.expert.level + a*mean, a * a * variance
}

// improvement returns the logarithm of the expected improvement over the largest posterior mean at
// designs. designs must not be empty.
func (b *expertPosterior) improvement(designs [][]float64) acquisition.Function {
	best := math.Inf(-1)
	for _, x := range designs {
		mean, _ := b.Predict(x)
		best = max(best, mean)
	}
	return acquisition.LogEI(b, best)
}
