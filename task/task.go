package task

import "github.com/libp2p/go-libp2p/core/peer"

// Goal says whether smaller or larger values of the objective are better.
type Goal string

// The goals of a task.
const (
	Minimize Goal = "minimize"
	Maximize Goal = "maximize"
)

// Sign is what makes larger values of the objective better when they are multiplied
// by it: 1 or -1.
func (g Goal) Sign() float64 {
	if g == Minimize {
		return -1
	}
	return 1
}

// Task is a task file, or what New was given, with all defaults filled in. It must
// not be changed afterwards.
type Task struct {
	Name      string
	Goal      Goal
	Space     *Space // with a Listing where the task has the key designs
	Surrogate Surrogate
	Strategy  Strategy
	Privacy   *Privacy // nil when nothing is promised

	// MaxMoves is the maximum number of moves to a neighbor, in the graph of the listing,
	// from one design of a node to its next: 1 or 2. 0 means that it goes to any design.
	MaxMoves int

	// Constraints are on outputs other than the objective: at most 16, by name.
	Constraints []Constraint

	Failures Failures
}

// Failures is what a failed evaluation is evidence of.
type Failures string

// Kinds of Failures, as in a task file.
const (
	// LearnFailures: of its design while failures cluster, by the node's own model. The default.
	LearnFailures Failures = "learn"
	// IgnoreFailures: of nothing.
	IgnoreFailures Failures = "ignore"
	// ConstrainFailures: of its design, as an outcome that breaks a constraint is.
	ConstrainFailures Failures = "constraint"
)

// Privacy is what a node promises about what it shares: (Epsilon, Delta) against
// everybody, over all its releases.
type Privacy struct {
	// Mechanism is "local" (every node adds all of the noise itself) or "aggregate"
	// (every node adds its part, and only sums are ever seen).
	Mechanism string
	// Epsilon is 0.01 to 100, Delta 1e-12 to 0.1.
	Epsilon, Delta float64
	// Clip bounds the Euclidean norm of a weight vector before noise is added:
	// 0.001 to 10000. By default it is that of a draw of the prior, sqrt(Features).
	Clip float64
	// Releases is the number of weight vectors that a node shares, 1 to 1000. Then it continues
	// without sharing.
	Releases int
	// Adjacency defines the contributions from which a contribution must be indistinguishable:
	// "replace-one" (any other) or "zero-out" (zeros).
	Adjacency string
	// Aggregate is set for mechanism aggregate and nil otherwise.
	Aggregate *Aggregate
}

// Aggregate defines which nodes sum, and how many of them may collude.
type Aggregate struct {
	// Roster lists the nodes that may participate, sorted, at most 1024: peer IDs with
	// Ed25519 keys.
	Roster []peer.ID
	// MinContributors is the minimum number of nodes in a sum, more than MaxColluding and at
	// most the roster. The promise holds with the noise of
	// MinContributors-MaxColluding nodes.
	MinContributors int
	// Committee is how many nodes serve in a round: 2 to 64, at most the roster.
	Committee int
	// MaxColluding is how many nodes may pool what they see, 1 to less than Committee,
	// and so few that a quorum is left.
	MaxColluding int
}

// Surrogate says which model of the objective a node keeps and which features
// shares are expressed in.
type Surrogate struct {
	// Type is "exact" (Gaussian process) or "rff" (Bayesian linear model over the
	// shared random Fourier features).
	Type string
	// Kernel is "matern52" or "se" (squared exponential).
	Kernel string
	// Features is the number M of shared random Fourier features, the length of a
	// shared weight vector: even, 2 to 4096.
	Features int
	// Basis is how the frequencies of the shared features are chosen: "quasi"
	// (quasi-random), "orthogonal" or "plain" (independent), with a cosine and a
	// sine each, or "random-phase", the form of the published code: one cosine
	// each, the features normalised.
	Basis string
	// Lengthscale is that of the shared features for floats and ints, in the unit
	// cube: 0.001 to 1000.
	Lengthscale float64
	// CategoryLengthscale is that of one-hot coordinates: 0.001 to 1000.
	CategoryLengthscale float64

	// Fixed has the hyperparameters of the objective where the file fixes them, with type
	// exact; nil where they are learned. Those of constraints are learned.
	Fixed *FixedHyperparameters

	// Extension is how the objective's model learns from peers' shares too; the zero value if it
	// does not. Not with Fixed, type rff or Privacy.
	Extension SurrogateExtension
}

// FixedHyperparameters are those of the Gaussian process of the objective, of which nothing is
// learned but the function. All but the lengthscales are in the objective's own units.
type FixedHyperparameters struct {
	// Lengthscales has one for each parameter, in the unit cube: 0.001 to 1000.
	Lengthscales []float64
	// Mean is that of the function: -1e100 to 1e100.
	Mean float64
	// SignalStd is the standard deviation of the function about Mean, the root of the
	// process's variance: 1e-100 to 1e100.
	SignalStd float64
	// NoiseStd is the standard deviation of an evaluation's noise: 0.001 to 1000 times
	// SignalStd.
	NoiseStd float64
}

// Strategy says how the next design is chosen and what is shared.
type Strategy struct {
	// Type is the name of a StrategyType. Its package says what it does.
	Type string
	// Settings are those of the type; nil when it has none.
	Settings StrategySettings
	// InitialDesigns is how many designs a node tries before it trusts its
	// surrogate: 1 to 1000.
	InitialDesigns int
}
