package task

// Goal says whether smaller or larger values of the objective are better.
type Goal string

// The goals of a task.
const (
	Minimize Goal = "minimize"
	Maximize Goal = "maximize"
)

// Task is a parsed task file with all defaults filled in. It must not be changed
// after Parse.
type Task struct {
	Name      string
	Goal      Goal
	Space     *Space
	Surrogate Surrogate
	Strategy  Strategy
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
	// (federated Thompson sampling), or "ts" (plain Thompson sampling) or "logei"
	// (expected improvement), which share nothing.
	Type string
	// FTS is set for type fts and nil otherwise.
	FTS *FTS
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
	// surrogate: "inverse-sqrt" (1-1/sqrt(t)), "inverse-square" (1-1/t^2),
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
