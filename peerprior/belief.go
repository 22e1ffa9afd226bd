package peerprior

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/gp"
	"github.com/fbo-node/fbo/rff"
)

// belief is what an agent makes of its observations and its peers.
type belief struct {
	data   *data
	peers  []*listened
	shared *rff.Map

	models           []model // those without peers come first
	withoutPeers     int     // how many these are
	aloneProbability float64
	logTotal         float64
}

// consensus is what the peers say together, read in one way.
type consensus struct {
	weights []float64 // of the mean, over the shared features
	left    leftover
	atOwn   []float64 // the mean at the own points
	leftOwn []float64 // the function of left there
}

func (s *Strategy) newConsensus(d *data, peers []*listened, view int) *consensus {
	mean, left := combine(peers, view, s.projection.Len())
	level, _ := moments(left)
	for i := range left {
		left[i] -= level
	}
	c := &consensus{weights: s.projection.Project(mean)}
	c.left = leftover{function: s.features.Function(s.projection.Project(left)), level: level}
	prior := s.features.Function(c.weights)
	for _, x := range d.x {
		c.atOwn = append(c.atOwn, prior.Value(x))
		c.leftOwn = append(c.leftOwn, c.left.function.Value(x))
	}
	return c
}

func (s *Strategy) believe(d *data, peers []*listened, common bool) *belief {
	b := &belief{data: d, peers: peers, shared: s.features}
	var without float64
	b.models, without = d.alone(aloneOdds)
	b.withoutPeers, b.logTotal = len(b.models), without
	relations := []relation{ownUnits, commonUnits}
	if !common {
		relations = relations[:1]
	}
	for view, relation := range relations {
		b.join(s.newConsensus(d, peers, view), relation, (1-aloneOdds)/float64(len(relations)))
	}
	b.aloneProbability = math.Exp(without - b.logTotal)
	return b
}

// join adds the models around a consensus.
func (b *belief) join(c *consensus, r relation, odds float64) {
	for _, h := range unlikenesses {
		deviations := make([]float64, len(c.leftOwn))
		for i, v := range c.leftOwn {
			deviations[i], _ = c.left.deviation(v, h)
		}
		for i, scale := range scales {
			models := r.models(odds*scaleOdds[i]/float64(len(unlikenesses)), scale, h, deviations)
			for j := range models {
				models[j].consensus = c
			}
			b.logTotal = logAdd(b.logTotal, b.data.weigh(models, b.data.whiten(scale, deviations), c.atOwn))
			b.models = append(b.models, models...)
		}
	}
}

// draw returns a function drawn from a model drawn; nil when that is the
// agent's own.
func (b *belief) draw(sample, which *rand.Rand) (acquisition.Function, error) {
	if which.Float64() < leastAlone {
		return nil, nil
	}
	u := which.Float64()
	chosen := len(b.models) - 1
	for i, m := range b.models {
		if u -= math.Exp(m.logPrior + m.logEvidence - b.logTotal); u < 0 {
			chosen = i
			break
		}
	}
	if chosen < b.withoutPeers {
		return nil, nil
	}
	m := b.models[chosen]
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
	return b.function(m, gain, residual.Draw(drawFeatures, sample)), nil
}

// mostProbable returns the mean of the most probable model; nil when that is
// the agent's own.
func (b *belief) mostProbable() (acquisition.Function, error) {
	if b.aloneProbability > 0.5 {
		return nil, nil
	}
	m := slices.MaxFunc(b.models[b.withoutPeers:], func(x, y model) int {
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
	weights := slices.Clone(m.consensus.weights)
	for i := range weights {
		weights[i] *= gain
	}
	prior := b.shared.Function(weights)
	if residual == nil {
		return prior
	}
	return sum{prior: prior, residual: residual, scale: m.scale, unlikeness: m.unlikeness, left: m.consensus.left}
}

// residual conditions r in units of its own deviation at each point, which gives
// each observation noise of its own.
func (b *belief) residual(m model, gain, level float64) (*gp.Posterior, error) {
	y, noise := make([]float64, len(b.data.y)), make([]float64, len(b.data.y))
	for i, v := range b.data.y {
		deviation := m.scale * m.deviations[i]
		y[i] = (v - gain*m.consensus.atOwn[i] - level) / deviation
		noise[i] = b.data.h.Noise / (deviation * deviation)
	}
	return gp.NewUnequalPosterior(b.data.spec, b.data.x, y, b.data.h, noise)
}

// ownProbability is the chance that a sample rests on no peer.
func (b *belief) ownProbability() float64 { return leastAlone + (1-leastAlone)*b.aloneProbability }
