package protocol

// Kinds of shares. A kind is also the name of the exchange that publishes its shares.
const (
	// AggregateKind is the kind of a [Contribution].
	AggregateKind = "aggregate"
	// CandidateKind is the kind of a [Candidate].
	CandidateKind = "candidate"
	// CurvesKind is the kind of [Curves].
	CurvesKind = "curves"
	// DensityKind is the kind of a [Density].
	DensityKind = "density"
	// FairKind is the name of the exchange of fair batches. It is used for direct messages; no
	// shares have this kind.
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
	// ResultsKind is the kind of [Results].
	ResultsKind = "results"
	// WeightsKind is the kind of [Weights].
	WeightsKind = "weights"
)
