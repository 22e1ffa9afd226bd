package peerprior

// sizes of the objective over the space that experts reckon with, equally probable, in
// deviations of the own outputs, which shrink when all designs are good.
var sizes = []float64{1, 3}

const (
	aloneOdds  = 0.3 // of the experts without peers, a priori
	useOdds    = 0.5 // that a peer's share is useful, a priori
	unlikeness = 0.2 // part of the objective's variance that peers cannot know
	levelSize  = 2.0 // deviation of the constant in the objective, in sizes
	peerNoise  = 0.1 // of what a peer knows as a statement about the own objective, in units of the prior variance

	densityExplained = 0.3  // of the variance, by where all peers believe the optimum to be
	trust            = 0.9  // that the optimum is near one of the peers', if they are believed
	nearby           = 0.14 // deviation of it from theirs with exact shares, in the unit cube
	spread           = 0.2  // the same with coarse shares, beside what these hide
	exponent         = 5.0  // of what is said of it, divided by the own observations, as in strategy density
)

// Bounds of cost and rounding.
const (
	maxPeers        = 20    // whose means, and whose optima, one suggestion counts
	minWeight       = 0.02  // of an expert that is worth its cost
	minExplained    = 0.01  // by a peer whose share is used
	maxKnown        = 0.995 // of the variance by one peer
	minVariance     = 1e-12 // of a mean over the space
	referencePoints = 400   // at least, at which consensus is found
	referenceRidge  = 0.05  // of its projection onto the shared features
	initialNoise    = 0.01  // before the first observation
	minObservations = 3     // of an agent that shares a mean: the level of fewer is all but a value
)
