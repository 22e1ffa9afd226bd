package search

import "github.com/fbo-node/fbo/internal/acquisition"

// The aliases below name types of internal packages that this package takes and returns, so that
// other modules can use them.
type (
	// Function is a function on the unit cube that a search maximises.
	Function = acquisition.Function
	// Predictor returns means and variances of a posterior.
	Predictor = acquisition.Predictor
	// Limit is the posterior of a constraint's output, with its bounds.
	Limit = acquisition.Limit
	// Bounded is a function whose values have bounds.
	Bounded = acquisition.Bounded
	// Maximizer searches for the maximum of a Function.
	Maximizer = acquisition.Maximizer
)
