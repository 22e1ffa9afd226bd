package peerprior

// sizes are the experts' values of the size s, with equal prior weight. The unit is the standard
// deviation of the own outputs. Larger sizes are needed because that deviation is small if all
// evaluated designs are good.
var sizes = []float64{1, 3}

const (
	aloneOdds   = 0.3  // prior weight of the experts without peers
	useOdds     = 0.5  // prior probability that a peer's share is useful
	unlikeness  = 0.2  // h: fraction of the objective's variance that peers cannot know
	levelSize   = 2.0  // prior standard deviation of the constant c, in units of the size s
	priorWeight = 0.85 // prior weight of the model with peers' results, if a peer is related
	peerNoise   = 0.1  // noise variance of a peer's mean as an observation of the own objective, in units of the prior variance

	densityExplained = 0.3  // fraction of the variance that the peers' estimated optima explain
	trust            = 0.9  // probability that the optimum is near that of a peer, given that the experts with peers are right
	nearby           = 0.14 // standard deviation of the own optimum around a peer's with exact shares, in the unit cube
	spread           = 0.2  // the same with coarse shares, in addition to the size of a grid cell
	exponent         = 5.0  // factor of the term for peers' estimated optima; it is divided by the number of own feasible observations, as in strategy density
	sumNoise         = 0.1  // minimum noise variance of a peer's observation in a sum, in standardised units
)

// Limits on cost and rounding errors.
const (
	maxPeers        = 20    // maximum number of means, and of estimated optima, that one suggestion uses
	maxResultPeers  = 50    // maximum number of peers whose results one suggestion uses
	minWeight       = 0.02  // experts with less weight are left out of the acquisition function
	minExplained    = 0.01  // shares that explain a smaller fraction of the variance are not used
	maxKnown        = 0.995 // maximum fraction of the variance that one peer explains at a point
	minVariance     = 1e-12 // minimum variance over the space of a mean that is not constant
	referencePoints = 400   // minimum number of points of the consensus
	referenceRidge  = 0.05  // ridge of the consensus' projection onto the shared features
	maxEvidence     = 50.0  // maximum ratio of the densities of one outcome under the models with and without peers' results
	initialNoise    = 0.01  // noise variance before the first observation
)
