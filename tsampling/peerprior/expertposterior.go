package peerprior

import (
	"math"
	"sync"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/rff"
)

// expertPosterior is the posterior of the objective under an expert with peers. The constant c is
// fixed at its posterior mean.
type expertPosterior struct {
	expert   *expert
	mean     *rff.Function // m
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
	return &expertPosterior{e, e.around.function(1), residual}, nil
}

// peersAt holds what peers predict at a point: m and left, with their gradients. All experts of an agent
// share it.
type peersAt struct {
	mean, left     float64
	ofMean, ofLeft []float64 // nil without gradients
}

func (b *expertPosterior) peersAt(x []float64) peersAt {
	return peersAt{mean: b.mean.Value(x), left: b.expert.around.left.Value(x)}
}

// peersSlope is peersAt with gradients. memory has twice the length of x.
func (b *expertPosterior) peersSlope(memory, x []float64) peersAt {
	p := peersAt{ofMean: memory[:len(x)], ofLeft: memory[len(x):]}
	p.mean, p.left = b.mean.Gradient(p.ofMean, x), b.expert.around.left.Gradient(p.ofLeft, x)
	return p
}

// Predict implements acquisition.Predictor.
func (b *expertPosterior) Predict(x []float64) (mean, variance float64) {
	return b.predict(b.peersAt(x), x)
}

func (b *expertPosterior) predict(p peersAt, x []float64) (mean, variance float64) {
	size := b.expert.size
	a, _ := b.expert.around.deviation(p.left)
	a *= size
	mean, variance = b.residual.Predict(x)
	return size*p.mean + b.expert.level + a*mean, a * a * variance
}

// PredictGradient implements acquisition.Predictor.
func (b *expertPosterior) PredictGradient(ofMean, ofVariance, x []float64) (mean, variance float64) {
	return b.predictGradient(ofMean, ofVariance, b.peersSlope(make([]float64, 2*len(x)), x), x)
}

func (b *expertPosterior) predictGradient(ofMean, ofVariance []float64, p peersAt, x []float64) (mean, variance float64) {
	size := b.expert.size
	a, slope := b.expert.around.deviation(p.left)
	a, slope = a*size, slope*size
	mean, variance = b.residual.PredictGradient(ofMean, ofVariance, x)
	for i := range x {
		ofMean[i] = size*p.ofMean[i] + a*ofMean[i] + mean*slope*p.ofLeft[i]
		ofVariance[i] = a*a*ofVariance[i] + 2*a*variance*slope*p.ofLeft[i]
	}
	return size*p.mean + b.expert.level + a*mean, a * a * variance
}

// expertGain is ln Σ_e w_e·EI_e(x), over experts of one agent.
type expertGain struct {
	experts []*expertPosterior
	bests   []float64 // the improvement is measured over these
	logs    []float64 // ln w_e
	memory  sync.Pool // of *[]float64
}

var _ acquisition.Function = (*expertGain)(nil)

// newExpertGain returns the function of the experts. The improvement of each is over its largest posterior
// mean at designs. Neither experts nor designs may be empty.
func newExpertGain(experts []*expertPosterior, designs [][]float64) *expertGain {
	g := &expertGain{experts: experts}
	for _, b := range experts {
		best := math.Inf(-1)
		for _, x := range designs {
			mean, _ := b.Predict(x)
			best = max(best, mean)
		}
		g.bests, g.logs = append(g.bests, best), append(g.logs, math.Log(b.expert.weight))
	}
	return g
}

// Value implements acquisition.Function.
func (g *expertGain) Value(x []float64) float64 {
	p, total := g.experts[0].peersAt(x), math.Inf(-1)
	for k, b := range g.experts {
		mean, variance := b.predict(p, x)
		value, _, _ := acquisition.LogImprovement(mean, math.Sqrt(max(variance, 0)), g.bests[k])
		total = logAdd(total, g.logs[k]+value)
	}
	return total
}

// Gradient implements acquisition.Function. The gradient is the average of those of ln EI_e, weighted by
// w_e·EI_e. It ignores the gradient of a variance of 0, which is a minimum.
func (g *expertGain) Gradient(grad, x []float64) float64 {
	held, _ := g.memory.Get().(*[]float64)
	if held == nil {
		held = new(make([]float64, 4*len(x)))
	}
	defer g.memory.Put(held)
	ofMean, ofVariance, rest := (*held)[:len(x)], (*held)[len(x):2*len(x)], (*held)[2*len(x):]
	clear(grad)
	p, total := g.experts[0].peersSlope(rest, x), math.Inf(-1)
	for k, b := range g.experts {
		mean, variance := b.predictGradient(ofMean, ofVariance, p, x)
		sd, byVariance := math.Sqrt(max(variance, 0)), 0.0
		value, byMean, bySD := acquisition.LogImprovement(mean, sd, g.bests[k])
		if sd > 0 {
			byVariance = bySD / (2 * sd)
		}
		next := logAdd(total, g.logs[k]+value)
		if next == total {
			continue
		}
		kept, added := math.Exp(total-next), math.Exp(g.logs[k]+value-next)
		for i := range grad {
			grad[i] = kept*grad[i] + added*(byMean*ofMean[i]+byVariance*ofVariance[i])
		}
		total = next
	}
	return total
}

// logAdd returns ln(exp(a) + exp(b)); if b is NaN, exp(b) counts as 0.
func logAdd(a, b float64) float64 {
	if math.IsNaN(b) || math.IsInf(b, -1) {
		return a
	}
	if a < b {
		a, b = b, a
	}
	return a + math.Log1p(math.Exp(b-a))
}
