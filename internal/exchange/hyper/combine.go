package hyper

import (
	"math"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// Constants of Combine. All except counts are in logarithms of hyperparameters.
const (
	// Between nodes with similar functions a lengthscale differs by a factor of about two. This
	// guess has the weight of the spread of guessedNodes nodes.
	guessedSpread = 0.4 // of the standard prior's spread
	guessedNodes  = 2

	minSpread  = 0.25 // between nodes
	mostWeight = 1.0  // largest weight of one statement, as the precision of a normal distribution
	farthest   = 2.0  // deviations; beyond, the force of a statement does not grow

	// cutSquare is the mean square of a normal variable that is cut at farthest.
	cutSquare = 0.9205

	maxSpreads = 4.0 // of the standard prior: limit of all statements, and so of the result

	weakest    = 1e-3 // smallest precision that counts as information
	bisections = 30
)

// Statement holds one node's estimate of its hyperparameters: surrogate.Evidence.
type Statement struct {
	Mean, Precision []float64
}

// Combine returns the prior for the hyperparameters of another node, given the standard prior and
// the statements of nodes, in any order. It treats each hyperparameter separately:
//
//	the nodes' values   θ_k ~ N(μ, τ²),  μ ~ the standard prior
//	node k's statement  t_k ~ N(θ_k, 1/h_k)
//
// h_k is the precision of the statement. t_k is the maximum of the likelihood if that were a
// parabola: the mean without the shift by the standard prior. μ is Huber's estimate, so that the
// force of a statement is bounded, whatever its location and precision. τ is the value at which the
// scatter of the statements equals its expectation. The result is the normal distribution with mean
// μ and variance τ² + Var(μ). It is never wider than the standard prior, and equals it without
// statements.
func Combine(standard gp.Prior, statements []Statement) gp.Prior {
	prior := gp.Prior{Location: make([]float64, len(standard.Location)), Spread: make([]float64, len(standard.Spread))}
	for i := range prior.Location {
		c := column{location: standard.Location[i], spread: standard.Spread[i]}
		for _, s := range statements {
			c.add(s.Mean[i], s.Precision[i])
		}
		prior.Location[i], prior.Spread[i] = c.combined()
	}
	return prior
}

// column holds the statements about one hyperparameter.
type column struct {
	location, spread float64 // of the standard prior
	at, variance     []float64
}

func (c *column) add(mean, precision float64) {
	precision = max(precision, weakest)
	slope := (mean - c.location) / (c.spread * c.spread) // of the likelihood at the mean, opposite to the prior's
	reach := maxSpreads * c.spread
	c.at = append(c.at, min(max(mean+slope/precision, c.location-reach), c.location+reach))
	c.variance = append(c.variance, 1/precision)
}

func (c *column) combined() (location, spread float64) {
	if len(c.at) == 0 {
		return c.location, c.spread
	}
	low, high := minSpread, c.spread
	for range bisections {
		between := (low + high) / 2
		if c.scatter(between) > 0 {
			low = between
		} else {
			high = between
		}
	}
	location, precision := c.centre(low)
	return location, min(math.Sqrt(low*low+1/precision), c.spread)
}

// scatter returns a value above 0 if the statements scatter more than this spread between nodes
// explains.
func (c *column) scatter(between float64) float64 {
	centre, _ := c.centre(between)
	guess := guessedSpread * c.spread / between
	excess := guessedNodes * (guess*guess - 1)
	excess++ // the centre follows the statements
	for k, at := range c.at {
		z := min(math.Abs(at-centre)/math.Sqrt(between*between+c.variance[k]), farthest)
		excess += z*z/cutSquare - 1
	}
	return excess
}

// centre returns Huber's estimate and its precision.
func (c *column) centre(between float64) (centre, precision float64) {
	low, high := c.location, c.location
	for _, at := range c.at {
		low, high = min(low, at), max(high, at)
	}
	for range bisections {
		centre = (low + high) / 2
		var pull float64
		if pull, precision = c.pull(between, centre); pull > 0 {
			low = centre
		} else {
			high = centre
		}
	}
	return centre, precision
}

// pull returns the total upward force on the centre, and the precision of the statements within
// farthest.
func (c *column) pull(between, centre float64) (force, precision float64) {
	precision = 1 / (c.spread * c.spread)
	force = (c.location - centre) * precision
	for k, at := range c.at {
		deviation := math.Sqrt(between*between + c.variance[k])
		weight := min(1/(deviation*deviation), mostWeight)
		z := (at - centre) / deviation
		if math.Abs(z) <= farthest {
			precision += weight
		}
		force += weight * deviation * min(max(z, -farthest), farthest)
	}
	return force, precision
}
