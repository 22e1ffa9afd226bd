package peerprior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/rff"
)

// consensus combines the signals of all peers into one mean m(x) and one unexplained fraction of
// the variance. It is immutable.
type consensus struct {
	features *rff.Map
	weights  []float64 // of the mean m, over the shared features
	left     *rff.Function
	level    float64 // the unexplained fraction of the variance at x is level + left(x); it may lie outside of [0, 1]

	atOwn, deviations []float64 // m and a (see the package comment) at the own designs
}

// poolPeers returns the consensus of the received signals.
func (s *Strategy) poolPeers(d *data, received []*peerSignal) *consensus {
	mean, left := s.pool(received)
	level, _ := moments(left)
	for i := range left {
		left[i] -= level
	}
	c := &consensus{features: s.features, weights: s.project(mean), left: s.features.Function(s.project(left)), level: level}
	m := c.function(1)
	for _, x := range d.x {
		c.atOwn = append(c.atOwn, m.Value(x))
		deviation, _ := c.deviation(c.left.Value(x))
		c.deviations = append(c.deviations, deviation)
	}
	return c
}

// pool returns the pooled mean and the unexplained fraction of the variance, both at the reference
// points.
//
// The rule is the Bayesian committee machine (Tresp, Neural Computation 2000), with each peer
// weighted by the probability that it is useful. Let E be the fraction of the variance that a peer
// explains at a point. The peer then counts as an observation at that point with noise (1-E)/E +
// peerNoise, in units of the prior variance. peerNoise is there because no two objectives are
// equal. Unlike in the committee machine, pooling does not make the unexplained fraction smaller
// than that of the most certain peer: peers that evaluate the same designs have correlated errors.
func (s *Strategy) pool(received []*peerSignal) (mean, left []float64) {
	n := len(s.reference().points)
	mean, left = make([]float64, n), slices.Repeat([]float64{1}, n)
	precision := slices.Repeat([]float64{1}, n)
	for _, p := range received {
		for i, known := range p.known {
			weight := p.use / (1 - known + peerNoise*known)
			precision[i] += weight * known
			mean[i] += weight * p.mean[i]
			left[i] = min(left[i], 1-p.use*known)
		}
	}
	for i := range mean {
		mean[i] /= precision[i]
	}
	return mean, left
}

// function returns the mean m times a factor.
func (c *consensus) function(factor float64) *rff.Function {
	weights := slices.Clone(c.weights)
	for i := range weights {
		weights[i] *= factor
	}
	return c.features.Function(weights)
}

// deviation returns a, the factor of the residual, at a point with this value of the function left.
// slope is the derivative of a with respect to that value.
func (c *consensus) deviation(left float64) (deviation, slope float64) {
	part := c.level + left
	if deviation = deviationOf(part); part > 0 && part < 1 {
		slope = (1 - unlikeness) / (2 * deviation)
	}
	return deviation, slope
}

// deviationOf returns a if peers leave the fraction left of the variance unexplained. It clamps
// left to [0, 1] and adds the fraction h (unlikeness) that peers cannot know.
func deviationOf(left float64) float64 {
	return math.Sqrt(unlikeness + (1-unlikeness)*min(max(left, 0), 1))
}

// project returns the weights over the shared features whose function fits these values at the
// reference points best, by ridge regression.
func (s *Strategy) project(values []float64) []float64 {
	r, moment := s.reference(), make([]float64, s.features.Features())
	blas64.Gemv(blas.Trans, 1, r.phi.RawMatrix(), linalg.Vector(values), 0, linalg.Vector(moment))
	return r.projection.FromMoment(moment)
}

func moments(values []float64) (mean, variance float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, variance
}
