package peerprior

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/surrogate/gp"
)

// belief is what an agent makes of its observations and its peers.
type belief struct {
	data   *data
	peers  []*listened
	shared *rff.Map

	models           []model // around what the peers say
	aloneProbability float64 // of all others: alone and silent
	logTotal         float64 // evidence of all, with that of none
	leastBold        float64
}

// peerPrior is what the peers say together, read in one way.
type peerPrior struct {
	weights []float64 // of the mean, over the shared features
	level   float64   // of the mean, over the space
	left    leftover
	atOwn   []float64 // the mean at the own points
	leftOwn []float64 // the function of left there
}

func (s *Strategy) newPeerPrior(d *data, said []said) *peerPrior {
	mean, left := combine(said, s.projection.Len())
	c := &peerPrior{weights: s.project(mean)}
	c.level, _ = moments(mean)
	level, _ := moments(left)
	for i := range left {
		left[i] -= level
	}
	c.left = leftover{function: s.features.Function(s.project(left)), level: level}
	prior := s.features.Function(c.weights)
	for _, x := range d.x {
		c.atOwn = append(c.atOwn, prior.Value(x))
		c.leftOwn = append(c.leftOwn, c.left.function.Value(x))
	}
	return c
}

// project returns the weights nearest to a function with these values at the
// reference points.
func (s *Strategy) project(values []float64) []float64 {
	moment := make([]float64, s.features.Features())
	blas64.Gemv(blas.Trans, 1, s.phi.RawMatrix(), linalg.Vector(values), 0, linalg.Vector(moment))
	return s.projection.FromMoment(moment)
}

func (s *Strategy) believe(d *data, peers []*listened, common bool) *belief {
	b := &belief{data: d, peers: peers, shared: s.features}
	views := []int{inOwnUnits}
	if common {
		views = append(views, inCommonUnits)
	}
	pairs := s.compare(d, peers)
	agreement := agree(pairs[inOwnUnits])
	joined, silent := math.Inf(-1), math.Inf(-1) // evidence of the peers' means with and without their shape
	alike := 0.0                                 // number of peers that seek what the agent seeks, in the better view
	for _, view := range views {
		relation, odds := relations[view], 1/float64(len(views))
		for i, r := range read(peers, view, groupsOf(pairs[view]), agreement.everybody) {
			c := s.newPeerPrior(d, r.said)
			joined = logAdd(joined, b.join(c, relation, odds*r.odds))
			if i == 0 { // of all peers
				silent = logAdd(silent, d.silentEvidence(relation, c.level)+math.Log(odds))
			}
		}
		use := 0.0
		for _, p := range peers {
			use += p.views[view].use * (1 + p.views[view].sign) / 2
		}
		alike = max(alike, use)
	}
	parameters := float64(len(d.h.Lengthscales))
	age := float64(len(d.y)) / (patience(len(peers), agreement.evidence) * parameters * parameters)
	heard := (1 - agreement.nobody) / (1 + age*age)
	for i := range b.models {
		b.models[i].logPrior += math.Log(heard)
	}
	joined += math.Log(heard)
	alone := logAdd(math.Log(aloneOdds)+d.alone, math.Log(1-aloneOdds-heard)+silent)
	b.logTotal = logAdd(joined, alone)
	b.aloneProbability = math.Exp(alone - b.logTotal)
	// That the shape tells something, at even odds: joined has the odds of heard in it.
	evidence := max(0, 2/(1+math.Exp(silent-joined+math.Log(heard)))-1)
	b.leastBold = 1 / (1 + evidence*alike)
	return b
}

// patience is the number of own observations, over the squared number P of parameters,
// at which the prior odds of listening halve. It is short for many peers that do not
// agree. A single peer cannot show agreement, so it gets the longest.
func patience(peers int, evidence float64) float64 {
	unshown := max(leastPatience, mostPatience*math.Pow(float64(max(peers, 1)), -1.5))
	return min(unshown*evidence*evidence, mostPatience)
}

// join adds the models around a consensus and returns the log of their summed
// prior times evidence.
func (b *belief) join(c *peerPrior, r relation, odds float64) float64 {
	total := math.Inf(-1)
	for _, h := range unlikenesses {
		deviations := make([]float64, len(c.leftOwn))
		for i, v := range c.leftOwn {
			deviations[i], _ = c.left.deviation(v, h)
		}
		for i, scale := range scales {
			models := r.models(odds*scaleOdds[i]/float64(len(unlikenesses)), scale, h, deviations)
			for j := range models {
				models[j].prior = c
			}
			w := b.data.whiten(scale, deviations)
			total = logAdd(total, b.data.weigh(models, w, w.see(c.atOwn)))
			b.models = append(b.models, models...)
		}
	}
	return total
}

// draw returns a function drawn from a model drawn; nil when that is the
// agent's own.
func (b *belief) draw(sample, which *rand.Rand) (acquisition.Function, error) {
	u, joined := b.joins(which)
	if !joined {
		return nil, nil
	}
	return b.sample(b.model(u), sample, which)
}

// joins tells whether a model around what peers say is drawn, and of these the one up to
// which the probabilities sum to u.
func (b *belief) joins(which *rand.Rand) (u float64, joined bool) {
	if which.Float64() < b.leastAlone() {
		return 0, false
	}
	u = which.Float64() - b.aloneProbability
	return u, u >= 0
}

// drawJoined is draw given that a model around what peers say is drawn.
func (b *belief) drawJoined(sample, which *rand.Rand) (acquisition.Function, error) {
	return b.sample(b.model(which.Float64()*(1-b.aloneProbability)), sample, which)
}

// model is the one up to which the probabilities of the models sum to u.
func (b *belief) model(u float64) model {
	for _, m := range b.models {
		if u -= math.Exp(m.logPrior + m.logEvidence - b.logTotal); u < 0 {
			return m
		}
	}
	return b.models[len(b.models)-1]
}

// sample returns a function drawn from a model.
func (b *belief) sample(m model, sample, which *rand.Rand) (acquisition.Function, error) {
	gain := m.mean[0] + math.Sqrt(m.cov[0])*which.NormFloat64()
	level := m.mean[1] + m.cov[1]/m.cov[0]*(gain-m.mean[0])
	level += math.Sqrt(max(m.cov[2]-m.cov[1]*m.cov[1]/m.cov[0], 0)) * which.NormFloat64()
	if len(b.data.y) == 0 {
		return b.function(m, gain, nil), nil
	}
	residual, err := b.residual(m, gain, level)
	if err != nil {
		return nil, err
	}
	return b.function(m, gain, tempered{
		mean:     residual,
		sample:   residual.Draw(drawFeatures, sample),
		boldness: b.leastBold + (1-b.leastBold)*which.Float64(),
	}), nil
}

// mostProbable returns the mean of the most probable model; nil when that is
// the agent's own.
func (b *belief) mostProbable() (acquisition.Function, error) {
	if b.aloneProbability > 0.5 {
		return nil, nil
	}
	m := slices.MaxFunc(b.models, func(x, y model) int {
		if x.logPrior+x.logEvidence < y.logPrior+y.logEvidence {
			return -1
		}
		return 1
	})
	residual, err := b.residual(m, m.mean[0], m.mean[1])
	if err != nil {
		return nil, err
	}
	return b.function(m, m.mean[0], acquisition.Mean(residual)), nil
}

func (b *belief) function(m model, gain float64, residual acquisition.Function) acquisition.Function {
	weights := slices.Clone(m.prior.weights)
	for i := range weights {
		weights[i] *= gain
	}
	prior := b.shared.Function(weights)
	if residual == nil {
		return prior
	}
	return sum{prior: prior, residual: residual, scale: m.scale, unlikeness: m.unlikeness, left: m.prior.left}
}

// residual conditions r in units of its own deviation at each point, which gives
// each observation noise of its own.
func (b *belief) residual(m model, gain, level float64) (*gp.Posterior, error) {
	y, noise := make([]float64, len(b.data.y)), make([]float64, len(b.data.y))
	for i, v := range b.data.y {
		deviation := m.scale * m.deviations[i]
		y[i] = (v - gain*m.prior.atOwn[i] - level) / deviation
		noise[i] = b.data.h.Noise / (deviation * deviation)
	}
	return gp.NewUnequalPosterior(b.data.spec, b.data.x, y, b.data.h, noise)
}

// ownProbability is the chance that a sample rests on no peer.
func (b *belief) ownProbability() float64 {
	least := b.leastAlone()
	return least + (1-least)*b.aloneProbability
}

// leastAlone is the chance of sampling without peers, whatever the evidence. It
// grows with the observations that such a sample would rest on.
func (b *belief) leastAlone() float64 {
	t := float64(len(b.data.y))
	return leastAlone * t / (t + halfLeastAlone)
}

// tempered is a sample of the residual whose departure from the mean is
// multiplied by boldness. Agents that are alike explore for each other, so that
// each may exploit more than one that samples alone must.
type tempered struct {
	mean     *gp.Posterior
	sample   *gp.Function
	boldness float64
}

var (
	_ acquisition.Function = tempered{}
	_ acquisition.Batch    = tempered{}
)

func (t tempered) Value(x []float64) float64 {
	return t.boldness*t.sample.Value(x) + (1-t.boldness)*t.mean.Mean(x)
}

func (t tempered) Gradient(grad, x []float64) float64 {
	ofMean := make([]float64, len(x))
	value := t.boldness*t.sample.Gradient(grad, x) + (1-t.boldness)*t.mean.MeanGradient(ofMean, x)
	for i, v := range ofMean {
		grad[i] = t.boldness*grad[i] + (1-t.boldness)*v
	}
	return value
}

func (t tempered) Values(dst, points []float64) {
	means := make([]float64, len(dst))
	t.mean.Means(means, points)
	t.sample.Values(dst, points)
	for i, mean := range means {
		dst[i] = t.boldness*dst[i] + (1-t.boldness)*mean
	}
}
