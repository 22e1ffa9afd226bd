package protocol

// Kinds of shares. Each is the name of the exchange, too, that publishes them.
const (
	// AggregateKind is the kind of a [Contribution].
	AggregateKind = "aggregate"
	// CandidateKind is the kind of a [Candidate].
	CandidateKind = "candidate"
	// FairKind is the kind of messages of fair batches, which have no shares.
	FairKind = "fair"
	// HyperparametersKind is the kind of [Hyperparameters].
	HyperparametersKind = "hyperparameters"
	// LatentKind is the kind of a [Latent].
	LatentKind = "latent"
	// MeanKind is the kind of a [Mean].
	MeanKind = "mean"
	// WeightsKind is the kind of [Weights].
	WeightsKind = "weights"
)
