package task

import (
	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
)

// Goal is the goal of a task: to minimise or to maximise the objective.
type Goal string

// The goals of a task.
const (
	Minimize Goal = "minimize"
	Maximize Goal = "maximize"
)

// Sign returns 1 or -1, the factor by which objective values are multiplied so that larger is
// better.
func (g Goal) Sign() float64 {
	if g == Minimize {
		return -1
	}
	return 1
}

// Task is an optimisation task, created by Parse or New, with all defaults set. It must not be
// changed.
type Task struct {
	Name      string
	Goal      Goal   // of the objective, or of the first of several
	Space     *Space // has a Listing if the task file has the section designs
	Surrogate Surrogate
	Strategy  Strategy
	Privacy   *Privacy // nil without a privacy guarantee

	// Objectives has 2 to 4 objectives in the order of the task file. It is nil if the task has one.
	Objectives []ObjectiveGoal

	// MaxMoves is the maximum number of moves between one design of a node and its next, where a
	// move goes to a neighbor in the graph of the listing. It is 1 or 2; 0 means no limit.
	MaxMoves int

	// Constraints has at most 16 constraints on outputs other than the objective, sorted by name.
	Constraints []Constraint

	Failures Failures

	// Continues is the ID of the former task that this one continues after a change of its search
	// space ([Continue]); undefined if there is none.
	Continues cid.Cid

	// Stop defines when evaluations are stopped early. Nil means never. It is part of the ID if nodes
	// share what their curves have in common (Stopping.Shares).
	Stop *Stopping

	About About // neither part of the ID nor shared
}

// Failures defines how strategies use failed evaluations.
type Failures string

// Values of the key failures.
const (
	// LearnFailures is the default: the node's own model learns which designs fail, if failures are
	// found to depend on the design.
	LearnFailures Failures = "learn"
	// IgnoreFailures means that strategies do not use failures.
	IgnoreFailures Failures = "ignore"
	// ConstrainFailures means that a failed evaluation counts as the violation of a constraint.
	ConstrainFailures Failures = "constraint"
)

// Privacy is the differential-privacy guarantee of a node: (Epsilon, Delta) against all receivers,
// over all its DP releases together.
type Privacy struct {
	// Mechanism is "local" (each node itself adds all of the noise) or "aggregate" (each node adds
	// a part of the noise, and only sums become visible).
	Mechanism string
	// Epsilon is in the range 0.01 to 100, Delta in 1e-12 to 0.1.
	Epsilon, Delta float64
	// Clip is the maximum Euclidean norm of a vector before noise is added; longer vectors are
	// scaled down. It is 0.001 to 10000. The default is Release.Norm if the strategy defines it,
	// else the typical norm of a draw of the prior, sqrt(Features).
	Clip float64
	// Releases is the number of DP releases of a node, 1 to 1000. After the last one the node
	// continues without sharing.
	Releases int
	// Adjacency defines which contributions of a node must be indistinguishable: "replace-one"
	// (from any other contribution) or "zero-out" (from zeros).
	Adjacency string
	// Aggregate is set for mechanism "aggregate", and otherwise nil.
	Aggregate *Aggregate
}

// Aggregate defines which nodes take part in private sums, and how many of them may collude.
type Aggregate struct {
	// Roster has the IDs of the only nodes that may participate, sorted. There are at most 1024,
	// all with Ed25519 keys.
	Roster []peer.ID
	// MinContributors is the minimum number of nodes in a sum. It is more than MaxColluding and at
	// most the size of the roster. The privacy guarantee counts only the noise of
	// MinContributors-MaxColluding nodes.
	MinContributors int
	// Committee is the number of committee members in a round: 2 to 64, and at most the size of the
	// roster.
	Committee int
	// MaxColluding is the maximum number of nodes that may combine their information without
	// breaking the guarantee. It is at least 1 and less than Committee, so that a quorum remains.
	MaxColluding int
}

// Surrogate defines a node's model of the objective, and the random Fourier features of shared
// weight vectors.
type Surrogate struct {
	// Type is "exact" (Gaussian process) or "rff" (Bayesian linear model over the shared random
	// Fourier features).
	Type string
	// Kernel is "matern52" or "se" (squared exponential).
	Kernel string
	// Features is the number M of shared random Fourier features, which is the length of a shared
	// weight vector. It is even, 2 to 4096.
	Features int
	// Basis defines the frequencies of the shared features. "quasi" (quasi-random), "orthogonal"
	// and "plain" (independent) have a cosine and a sine for each frequency. "random-phase" is the
	// form of the published code, with one cosine for each frequency and normalised features.
	Basis string
	// Lengthscale is the lengthscale of the shared features for floats and ints, in the unit cube:
	// 0.001 to 1000.
	Lengthscale float64
	// CategoryLengthscale is the same for one-hot coordinates: 0.001 to 1000.
	CategoryLengthscale float64

	// Fixed has the hyperparameters of the objective's model if the task file fixes them, which
	// requires type "exact". It is nil if they are learned. Hyperparameters of constraints are
	// always learned.
	Fixed *FixedHyperparameters

	// Extension defines how the objective's model also learns from peers' shares. The zero value
	// means that it does not. An extension excludes Fixed, type "rff" and Privacy.
	Extension SurrogateExtension
}

// FixedHyperparameters has the hyperparameters of the objective's Gaussian process, which then
// learns only the function. All of them except the lengthscales are in the objective's own units.
type FixedHyperparameters struct {
	// Lengthscales has one lengthscale for each parameter, in the unit cube: 0.001 to 1000.
	Lengthscales []float64
	// Mean is the prior mean of the objective: -1e100 to 1e100.
	Mean float64
	// SignalStd is the prior standard deviation of the objective about Mean: 1e-100 to 1e100.
	SignalStd float64
	// NoiseStd is the standard deviation of the noise of an evaluation: 0.001 to 1000 times
	// SignalStd.
	NoiseStd float64
}

// Strategy defines how a node chooses designs, and what it shares.
type Strategy struct {
	// Type is the name of a StrategyType, which the strategy's package documents.
	Type string
	// Settings has the settings of that type; nil if it has none.
	Settings StrategySettings
	// Straight is that of the StrategyType.
	Straight bool
	// InitialDesigns is the number of starting designs, which a node evaluates before its surrogate
	// chooses any: 1 to 1000.
	InitialDesigns int
}
