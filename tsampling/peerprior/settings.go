package peerprior

// The grid of models.
var (
	scales    = []float64{1, 2, 4} // of f, in deviations of the own outputs, which shrink when all designs are good
	scaleOdds = []float64{.5, .3, .2}

	unlikenesses       = []float64{.0025, .01, .05, .2, .5}
	judgedUnlikenesses = []float64{.02, .3} // for each peer by itself
	aloneSizes         = []float64{.0025, .01, .05, .2, .5, 1}

	// of the sizes of two peers' objectives that are alike in shape
	sizeRatios    = []float64{.6, 1, 1 / .6}
	sizeRatioOdds = []float64{.25, .5, .25}

	// relations are between a mean and f.
	ownUnits    = relation{gains: []float64{1, 2}, byScale: true, gainVariance: .25, levelVariance: 4}
	commonUnits = relation{gains: []float64{1}, gainVariance: .05, levelVariance: .1}

	agreeingPairs = [3]float64{.99, .5, .25} // the parts of all pairs of peers that may be alike, if some are

	relations = [2]relation{inOwnUnits: ownUnits, inCommonUnits: commonUnits}
)

// docs/experiments.md says on what these were chosen. Some bound cost or rounding, or matter
// little: the tests here do not tell other values of aloneLevel, leastExplained, mostKnown,
// leastVariance, comparedPoints, mostUnitRatio, referenceRidge, initialNoise and drawFeatures
// from these, nor of sizeRatios and of the levelVariance of commonUnits.
const (
	aloneOdds        = 0.15  // that no peer is of use, before any evidence
	disagreementOdds = 0.3   // that no two peers are alike, before they have said anything
	claimError       = 0.4   // of what peers claim to know, as a part of it
	groupOdds        = 0.8   // that the agent belongs to a group of peers, where not all are alike
	leastPatience    = 0.15  // own observations per P² at which the odds of listening halve, when nothing shows whether peers agree
	mostPatience     = 3.0   // the same when they agree, and with a single peer
	leastReading     = 1e-3  // odds of a way to take what peers say that is worth its cost
	leastAgreement   = 1e-6  // of the evidence that some are alike, so that they can still be heard
	leastAlone       = 0.1   // the chance of sampling without peers, whatever the evidence, after many own observations
	halfLeastAlone   = 5.0   // own observations after which it is half of that
	aloneLevel       = 4.0   // variance of the constant in a model without peers, in units of the squared scale
	peerOdds         = 0.7   // that a peer is of use, before any evidence
	lengthscaleDoubt = 1.0   // nats of evidence against the peers' lengthscales that count for nothing
	contraryOdds     = 0.05  // that a peer of use is so by the contrary of what it says
	peerNoise        = 0.1   // of what a peer knows as a statement about the agent's own objective, in units of the prior variance
	mostPeers        = 20    // that one suggestion listens to, which bounds its cost
	leastExplained   = 0.01  // by a peer that is worth hearing
	mostKnown        = 0.995 // of the variance by one peer
	leastVariance    = 1e-12 // of a mean over the space
	mostDeviations   = 1e4   // by which a mean, or a value inferred from it, may differ from the level of the outputs

	leastObservations = 3     // of an agent that shares: the level of fewer is all but a value
	referencePoints   = 400   // at least, at which consensus is found
	comparedPoints    = 128   // of these, at most, at which observations of peers are inferred
	mostInferred      = 12    // observations of a peer for this
	mostUnitRatio     = 1e100 // of two peers
	leastInferred     = 0.1   // of the prior variance by one of them
	sizeShape         = 2.0   // of the inverse gamma distribution of the square of an objective's size, in units of its author's outputs
	referenceRidge    = 0.05  // of its projection onto the shared features
	initialNoise      = 0.01  // before the first observation
	drawFeatures      = 512   // of the prior part of a sampled residual
)
