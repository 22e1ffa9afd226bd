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
	Space     *Space
	Surrogate Surrogate
	Strategy  Strategy
	Privacy   *Privacy // nil when nothing is promised

	// Bounds are on outputs other than the objective. A task file of this version has
	// none; they have no part in Canonical and so in the ID.
	Bounds []Bound
}

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
	// Releases is how many weight vectors a node shares, 1 to 1000; then it goes on
	// without sharing.
	Releases int
	// Adjacency says from what a contribution is not to be told apart: "replace-one"
	// (any other) or "zero-out" (zeros).
	Adjacency string
	// Aggregate is set for mechanism aggregate and nil otherwise.
	Aggregate *Aggregate
}

// Aggregate says who sums, and against whom.
type Aggregate struct {
	// Roster is everybody who may take part, sorted, at most 1024: peer IDs with
	// Ed25519 keys.
	Roster []peer.ID
	// Contributors is the least number of nodes in a sum, more than Colluding and at
	// most the roster. The promise holds with the noise of so many less Colluding.
	Contributors int
	// Committee is how many nodes serve in a round: 2 to 64, at most the roster.
	Committee int
	// Colluding is how many nodes may pool what they see, 1 to less than Committee,
	// and so few that a quorum is left.
	Colluding int
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
}

// Strategy says how the next design is chosen and what is shared.
type Strategy struct {
	// Type is "peer-prior" (peer-prior Thompson sampling, the default), "fts"
	// (federated Thompson sampling), "fts-de" (the same with distributed exploration,
	// from sums), "consensus", "constrained-gp" or "density"
	// (shared designs), or "ts" (plain Thompson sampling), "logei" (expected
	// improvement) or "ucb" (upper confidence bound), which share nothing.
	Type string
	// FTS is set for type fts and nil otherwise, and so are the next four for
	// theirs.
	FTS         *FTS
	FTSDE       *FTSDE
	Consensus   *Consensus
	Constrained *Constrained
	Density     *Density
	// InitialDesigns is how many designs a node tries before it trusts its
	// surrogate: 1 to 1000.
	InitialDesigns int
}

// FTS is the strategy of Dai, Low and Jaillet, Federated Bayesian Optimization via
// Thompson Sampling (NeurIPS 2020).
type FTS struct {
	// Mode is "concurrent" (nodes share while they run) or "one-shot" (a node
	// shares once, as in the paper).
	Mode string
	// Schedule gives the probability p_t that a node's trial t comes from its own
	// surrogate: "inverse-sqrt" (1-1/sqrt(t)), "inverse-square" (1-1/t^2), "inverse"
	// (1-1/t),
	// "constant" (OwnProbability) or "own-only" (1).
	Schedule string
	// OwnProbability is p_t of schedule constant, in [0, 1]; 0 for the others.
	OwnProbability float64
	// ShareAfter is after how many trials a node shares in mode one-shot, 1 to
	// 10000; 0 in mode concurrent.
	ShareAfter int
	// ShareEvery is how many trials lie between two shares in mode concurrent, 1
	// to 10000; 0 in mode one-shot.
	ShareEvery int
}

// FTSDE is federated Thompson sampling with distributed exploration: Dai, Low and
// Jaillet, Differentially Private Federated Bayesian Optimization with Distributed
// Exploration (NeurIPS 2021).
type FTSDE struct {
	// Cells is P, the number of parts of equal size of the space, each explored at
	// the start by its own nodes: a power of 2, 1 to 16.
	Cells int
	// Listen says when a node follows a sum: "judged" (as far as its own observations
	// bear it out) or "schedule" (with probability 1-p_t, as published).
	Listen string
	// Share says what is summed: "mean" (of a node's posterior) or "sample".
	Share string
	// Schedule and OwnProbability give p_t as in FTS; empty and 0 with listen judged.
	Schedule       string
	OwnProbability float64
	// ShareEvery is how many trials lie between two sums, 1 to 10000.
	ShareEvery int
}

// Consensus is the strategy in which nodes average the designs that each would
// evaluate alone: Al Kontar, "Collaborative and Federated Black-box Optimization"
// (2024), equations 4 to 6.
type Consensus struct {
	// Acquisition chooses a node's own candidate: "logei", "ucb" or "ts".
	Acquisition string
	// Weights says how candidates are weighed: "uniform", decaying to the own one
	// alone, "leader" (the node of best response weighs most) or "metropolis" (for
	// nodes that do not see everybody).
	Weights string
	// Mode is "rounds" (a node waits for the candidates of those in step with it) or
	// "asynchronous" (it takes what it has, weighed by age).
	Mode string
	// Rounds is T, after which a node goes on alone: 1 to 100000.
	Rounds int
	// Deadline is how many seconds a round waits for candidates, 1 to 86400; 0 in
	// mode asynchronous.
	Deadline int
	// Response says how the best response is exchanged with weights leader: "value"
	// or "noisy"; empty otherwise.
	Response string
	// ResponseNoise is the standard deviation of the noise on it with response
	// noisy, in units of the objective; 0 otherwise.
	ResponseNoise float64
}

// Constrained is the strategy in which nodes share near-optimal designs and
// condition their surrogates on them: Al Kontar (2024), equation 7.
type Constrained struct {
	// Threshold is "none" (designs are shared always) or "open" (with the lower
	// confidence bound of the objective, so that the receiver can compare it with
	// what it has).
	Threshold string
	// Confidence is how many standard deviations lie between the mean and the lower
	// confidence bound whose maximiser a node shares: 0 to 100.
	Confidence float64
}

// Density is the strategy in which nodes share where they believe the optimum to
// be: Al Kontar (2024), equation 8.
type Density struct {
	// Beta is the exponent of the peers' densities times the trial number: 0 to 1000.
	Beta float64
	// Components is how many normals a density has, 1 (around the best design) or
	// up to 16 (fitted to where samples of the posterior have their maxima).
	Components int
	// Spread is the standard deviation of a density of one component, in the unit
	// cube: 0.001 to 10; 0 with more.
	Spread float64
}
