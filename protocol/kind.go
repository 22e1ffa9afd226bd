package protocol

// Kinds of shares. Each is the name of the exchange, too, that publishes them.
const (
	// AggregateKind is the kind of a [Contribution].
	AggregateKind = "aggregate"
	// CandidateKind is the kind of a [Candidate].
	CandidateKind = "candidate"
	// DensityKind is the kind of a [Density].
	DensityKind = "density"
	// FairKind is the kind of messages of fair batches, which have no shares.
	FairKind = "fair"
	// FeasibilityKind is the kind of [Feasibility].
	FeasibilityKind = "feasibility"
	// HyperparametersKind is the kind of [Hyperparameters].
	HyperparametersKind = "hyperparameters"
	// LatentKind is the kind of a [Latent].
	LatentKind = "latent"
	// MeanKind is the kind of a [Mean].
	MeanKind = "mean"
	// NearOptimalKind is the kind of a [NearOptimal].
	NearOptimalKind = "design"
	// WeightsKind is the kind of [Weights].
	WeightsKind = "weights"
)
