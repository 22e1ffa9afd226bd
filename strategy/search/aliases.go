package search

import "github.com/fbo-node/fbo/internal/acquisition"

// Types of the module's own packages that this package takes and returns. The aliases let
// another module name them.
type (
	// Function is what a search maximises over the unit cube.
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
