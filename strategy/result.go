package strategy

// Interfaces that the value of a Result may implement, so that the agent's models learn from it.
type (
	// FactorSource returns the peers' statements about a latent function in common, in no
	// particular order. The agent's posterior of the objective depends on them
	// ([surrogate.Listener]).
	FactorSource interface{ Statements() []FactorStatement }

	// PriorSource returns the prior that peers make for the hyperparameters of the objective; nil
	// while they make none. The agent fits the hyperparameters under it. Prior may take long; the
	// agent calls it beside its own goroutine.
	PriorSource interface{ Prior() *HyperPrior }
)
