package peerprior

// sizes has the experts' sizes of the objective over the space, with equal prior probability. The unit is
// the deviation of the own outputs, which shrinks if all designs are good.
var sizes = []float64{1, 3}

const (
	aloneOdds  = 0.3 // prior weight of the experts without peers
	useOdds    = 0.5 // prior probability that a peer's share is useful
	unlikeness = 0.2 // h: fraction of the objective's variance that peers cannot know
	levelSize  = 2.0 // deviation of the objective's constant c, in sizes
	peerNoise  = 0.1 // of a peer's mean as an observation of the own objective, in units of the prior variance

	densityExplained = 0.3  // fraction of the variance that the peers' estimated optima explain
	trust            = 0.9  // probability that the optimum is near a peer's, if the experts with peers are right
	nearby           = 0.14 // deviation of the own optimum from a peer's with exact shares, in the unit cube
	spread           = 0.2  // the same with coarse shares, in addition to their coarseness
	exponent         = 5.0  // of the term for estimated optima, divided by the own observations, as in strategy density
)

// Limits on cost and rounding errors.
const (
	maxPeers        = 20    // peers whose means, and whose optima, one suggestion uses
	minWeight       = 0.02  // of an expert that is worth its computation
	minExplained    = 0.01  // variance that a used share must explain
	maxKnown        = 0.995 // fraction of the variance that one peer may explain
	minVariance     = 1e-12 // of a mean over the space
	referencePoints = 400   // minimum number of points of the consensus
	referenceRidge  = 0.05  // of the consensus' projection onto the shared features
	initialNoise    = 0.01  // before the first observation
	minObservations = 3     // of an agent that shares a mean: the level of fewer nearly discloses a value
)
