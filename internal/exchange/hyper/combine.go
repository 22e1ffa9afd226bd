package hyper

import (
	"math"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// Constants of Combine. Spreads refer to logarithms of hyperparameters.
const (
	// Between nodes with similar functions a lengthscale differs by a factor of about two. This
	// prior guess of the spread between nodes has the weight of guessedNodes nodes.
	guessedSpread = 0.4 // guessed spread between nodes, as a fraction of the standard prior's spread
	guessedNodes  = 2

	minSpread  = 0.25 // lower bound of the spread between nodes
	mostWeight = 1.0  // maximum weight of one statement, as a precision
	farthest   = 2.0  // standard deviations; the force of a statement that is farther away does not grow

	// cutSquare is the mean square of a standard normal variable that is clipped to ±farthest.
	cutSquare = 0.9205

	maxSpreads = 4.0 // statements farther from the standard prior's location, in its spreads, are moved to this limit

	weakest    = 1e-3 // lower bound of the precision of a statement
	bisections = 30
)

// Statement holds one node's estimate of its hyperparameters, from surrogate.Evidence: mean and
// precision of the posterior of each logarithm.
type Statement struct {
	Mean, Precision []float64
}

// Combine returns the prior for the hyperparameters of another node, given the standard prior and
// the statements of nodes. The order of statements does not matter. Combine treats each
// hyperparameter separately, by the model
//
//	the nodes' values   θ_k ~ N(μ, τ²),  μ ~ the standard prior
//	node k's statement  t_k ~ N(θ_k, 1/h_k)
//
// Here h_k is the precision of statement k. t_k is its mean, shifted so that the standard prior has
// no effect on it. It is the maximum of node k's likelihood if the log likelihood is a parabola. μ
// is estimated by Huber's estimate, so that the force of a statement is bounded whatever its
// location and precision. τ is the value at which the observed scatter of the statements equals its
// expectation. The result is the normal distribution with mean μ and variance τ² + Var(μ). It is
// never wider than the standard prior, and equals the standard prior if there are no statements.
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
	location, spread float64 // location and spread of the standard prior
	at, variance     []float64
}

func (c *column) add(mean, precision float64) {
	precision = max(precision, weakest)
	slope := (mean - c.location) / (c.spread * c.spread) // slope of the log likelihood at the mean, where it is opposite to that of the log prior
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

// scatter returns a value above 0 if the statements scatter more than the spread `between` of nodes
// explains.
func (c *column) scatter(between float64) float64 {
	centre, _ := c.centre(between)
	guess := guessedSpread * c.spread / between
	excess := guessedNodes * (guess*guess - 1)
	excess++ // corrects for the centre, which is estimated from the same statements
	for k, at := range c.at {
		z := min(math.Abs(at-centre)/math.Sqrt(between*between+c.variance[k]), farthest)
		excess += z*z/cutSquare - 1
	}
	return excess
}

// centre returns Huber's estimate of μ for this spread between nodes, and its precision.
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

// pull returns the total force on the centre, positive if the centre should be larger. It also
// returns the precision of the estimate: that of the standard prior, plus the weights of the
// statements within farthest.
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
