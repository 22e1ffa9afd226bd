package task

import "github.com/libp2p/go-libp2p/core/peer"

// Goal says whether smaller or larger values of the objective are better.
type Goal string

// The goals of a task.
const (
	Minimize Goal = "minimize"
	Maximize Goal = "maximize"
)

// Sign returns the factor for objective values by which larger becomes better: 1 or -1.
func (g Goal) Sign() float64 {
	if g == Minimize {
		return -1
	}
	return 1
}

// Task is a task from a file or from New, with all defaults set. It must not be changed.
type Task struct {
	Name      string
	Goal      Goal
	Space     *Space // with a Listing if the task has the key designs
	Surrogate Surrogate
	Strategy  Strategy
	Privacy   *Privacy // nil without a privacy guarantee

	// MaxMoves is the maximum number of moves to a neighbor, in the graph of the listing,
	// from one design of a node to its next: 1 or 2. 0 means no limit.
	MaxMoves int

	// Constraints has at most 16 constraints on outputs other than the objective, sorted by name.
	Constraints []Constraint

	Failures Failures
}

// Failures defines how strategies use failed evaluations.
type Failures string

// Kinds of Failures, as in a task file.
const (
	// LearnFailures is the default: the node's own model learns which designs fail while failures
	// cluster.
	LearnFailures Failures = "learn"
	// IgnoreFailures makes strategies learn nothing from failures.
	IgnoreFailures Failures = "ignore"
	// ConstrainFailures makes a failure count as the violation of a constraint.
	ConstrainFailures Failures = "constraint"
)

// Privacy is the guarantee of a node for its shares: (Epsilon, Delta) differential privacy against all
// receivers, over all its releases.
type Privacy struct {
	// Mechanism is "local" (each node adds all of the noise itself) or "aggregate" (each
	// node adds a part of the noise, and only sums become visible).
	Mechanism string
	// Epsilon is 0.01 to 100, Delta 1e-12 to 0.1.
	Epsilon, Delta float64
	// Clip is the maximum Euclidean norm of a released vector before noise is added:
	// 0.001 to 10000. The default is the norm of a draw of the prior, sqrt(Features), or
	// Release.Norm if the strategy defines it.
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

// Aggregate defines the nodes of private sums, and the number of them that may collude.
type Aggregate struct {
	// Roster lists the nodes that may participate, sorted, at most 1024: peer IDs with
	// Ed25519 keys.
	Roster []peer.ID
	// MinContributors is the minimum number of nodes in a sum, more than MaxColluding and at
	// most the size of the roster. The guarantee needs the noise of only
	// MinContributors-MaxColluding nodes.
	MinContributors int
	// Committee is the number of committee members in a round: 2 to 64, at most the size of the
	// roster.
	Committee int
	// MaxColluding is the maximum number of nodes that may combine their information: 1 to
	// less than Committee, and small enough that a quorum remains.
	MaxColluding int
}

// Surrogate defines a node's model of the objective, and the features of shared weight vectors.
type Surrogate struct {
	// Type is "exact" (Gaussian process) or "rff" (Bayesian linear model over the
	// shared random Fourier features).
	Type string
	// Kernel is "matern52" or "se" (squared exponential).
	Kernel string
	// Features is the number M of shared random Fourier features, the length of a
	// shared weight vector: even, 2 to 4096.
	Features int
	// Basis is the choice of the shared features' frequencies. It is "quasi" (quasi-random),
	// "orthogonal" or "plain" (independent), with a cosine and a sine for each frequency. Or
	// it is "random-phase", the form of the published code, with one cosine for each frequency
	// and normalised features.
	Basis string
	// Lengthscale is the lengthscale of the shared features for floats and ints, in the unit
	// cube: 0.001 to 1000.
	Lengthscale float64
	// CategoryLengthscale is that of one-hot coordinates: 0.001 to 1000.
	CategoryLengthscale float64

	// Fixed has the hyperparameters of the objective if the file fixes them, with type
	// exact; nil if they are learned. Hyperparameters of constraints are always learned.
	Fixed *FixedHyperparameters

	// Extension defines how the objective's model also learns from peers' shares; the zero value
	// if it does not. It excludes Fixed, type rff and Privacy.
	Extension SurrogateExtension
}

// FixedHyperparameters has the hyperparameters of the objective's Gaussian process, which then learns
// only the function. All except the lengthscales are in the objective's own units.
type FixedHyperparameters struct {
	// Lengthscales has one for each parameter, in the unit cube: 0.001 to 1000.
	Lengthscales []float64
	// Mean is the mean of the function: -1e100 to 1e100.
	Mean float64
	// SignalStd is the standard deviation of the function about Mean, the root of the
	// process's variance: 1e-100 to 1e100.
	SignalStd float64
	// NoiseStd is the standard deviation of an evaluation's noise: 0.001 to 1000 times
	// SignalStd.
	NoiseStd float64
}

// Strategy defines the choice of designs and the shares.
type Strategy struct {
	// Type is the name of a StrategyType. Its package documents it.
	Type string
	// Settings has the settings of the type; nil if it has none.
	Settings StrategySettings
	// InitialDesigns is the number of starting designs, which a node evaluates before its
	// surrogate chooses: 1 to 1000.
	InitialDesigns int
}
