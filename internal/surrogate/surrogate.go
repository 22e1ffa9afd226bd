package surrogate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

// Observations holds the encoded designs of one agent, and one output of each.
type Observations struct {
	X [][]float64 // encoded designs, each of length task.Space.Dim
	Y []float64   // one finite output per design; larger is better, except for outputs of constraints

	// Deviations are the standard deviations of the errors of Y besides the noise, 0 or more, in the
	// units of Y. They are those of outputs that were not measured but predicted. nil means none.
	// Models with random features ignore them.
	Deviations []float64
}

// Function is a function over encoded designs, safe for concurrent use.
type Function interface {
	// Value returns the function at x.
	Value(x []float64) float64
	// Gradient fills grad, which has the length of x, with the gradient at x and returns the value.
	Gradient(grad, x []float64) float64
}

// Hyperparameters holds the result of Fit. JSON preserves it exactly.
type Hyperparameters struct {
	// Lengthscales has one entry per parameter of the task, in units of the encoded cube. If it is
	// empty, the rff surrogate predicts with the task's shared features.
	Lengthscales []float64 `json:"lengthscales,omitempty"`
	Noise        float64   `json:"noise"` // variance, in standardised units

	// Prior is the prior under which the fit was made; nil is the surrogate's own.
	Prior *gp.Prior `json:"prior,omitempty"`

	// Features is the number of own features of the rff surrogate, without the constant one.
	Features int `json:"features,omitempty"`
	// SharedNoise is the noise variance of the rff surrogate over the shared features; 0 means
	// Noise.
	SharedNoise float64 `json:"shared_noise,omitempty"`
}

// Process returns the hyperparameters of the Gaussian process.
func (h Hyperparameters) Process() gp.Hyperparameters {
	return gp.Hyperparameters{Lengthscales: h.Lengthscales, Noise: h.Noise, Prior: h.Prior}
}

// OfProcess returns the hyperparameters of a model that consists of the Gaussian process alone.
func OfProcess(h gp.Hyperparameters) Hyperparameters {
	return Hyperparameters{Lengthscales: h.Lengthscales, Noise: h.Noise, Prior: h.Prior}
}

// Model is one kind of surrogate for one task. It is immutable and safe for concurrent use.
type Model interface {
	// Fit learns hyperparameters from at least one observation. previous, if not nil, is the result
	// of a fit to fewer observations, and serves as a starting point. The result depends only on
	// the arguments and rng. If ctx ends first, Fit soon returns the error of ctx.
	Fit(ctx context.Context, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error)
	// Condition returns the posterior given at least one observation; with fixed hyperparameters
	// there may be none. It neither changes nor keeps the inputs. previous, if not nil, is a
	// posterior of this model. If previous has the same hyperparameters and its observations are
	// the first of obs, Condition extends it. That is faster and gives the same result up to
	// rounding.
	Condition(obs Observations, h Hyperparameters, previous Posterior) (Posterior, error)
}

// Posterior is a model conditioned on observations. It is immutable and safe for concurrent use, if
// each caller has its own rng. Draws depend only on the rng. All results are in standardised units:
// the outputs are shifted and scaled to mean zero and standard deviation one, and the tail of bad
// values is bent. With fixed hyperparameters, their mean and standard deviation are used and
// nothing is bent.
type Posterior interface {
	// Predict returns the mean and the variance of the function at x, in
	// standardised units and without the noise of an observation.
	Predict(x []float64) (mean, variance float64)
	// PredictGradient returns the same as Predict. It also fills the gradients of the mean and of
	// the variance at x, which have the length of x.
	PredictGradient(meanGradient, varianceGradient, x []float64) (mean, variance float64)
	// Draw returns a sampled function.
	Draw(rng *rand.Rand) Function
	// Hyperparameters returns the hyperparameters with which the model was conditioned.
	Hyperparameters() Hyperparameters

	Sharer
}

// Sharer provides results of a posterior in a form that peers can use: weights over the features of
// SharedMap. Each vector of weights has as many entries as the task has features.
type Sharer interface {
	// Weights returns the weights of a newly sampled function of this posterior, up to a constant.
	// A posterior that is no linear model over the shared features projects the function onto them.
	// If ctx ends before that, it returns the error of ctx.
	Weights(ctx context.Context, rng *rand.Rand) ([]float64, error)
	// WeightDraw returns a draw from the posterior of the weights of the Bayesian linear model over
	// the shared features, given the same observations, at least one (Dai, Low and Jaillet 2020,
	// equations 2 and 3). If ctx ends before that, it returns the error of ctx.
	WeightDraw(ctx context.Context, rng *rand.Rand) ([]float64, error)
	// Mean returns the posterior mean as a level and weights. level is the mean far from all
	// observations, and the weights represent the difference from it.
	Mean() (level float64, weights []float64)
	// DetailedMean is Mean with a smaller error at the observed designs and around the best of
	// them, and a larger error elsewhere. The norm of its weights is larger, so a limit on the norm
	// changes them more.
	DetailedMean() (level float64, weights []float64)
	// Explained returns the fraction of the prior variance that the observations have removed.
	// average, 0 to 1, is its average over the space. The weights represent the difference from the
	// average at each point.
	Explained() (average float64, weights []float64)
}

// PeerModel is a Model that also learns from peers' shares. The argument peers is the result of the
// exchange that collects these shares.
type PeerModel interface {
	Model
	// FitWithPeers is Fit with peers' shares.
	FitWithPeers(ctx context.Context, peers any, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error)
	// ConditionOnPeers returns the posterior given the observations, at least one, and peers'
	// shares. own is the posterior that Condition returns for the same observations. The result
	// depends only on the arguments. If ctx ends first, it returns the error of ctx.
	ConditionOnPeers(ctx context.Context, peers any, obs Observations, own Posterior) (Posterior, error)
}

// Process is a Model that is an exact Gaussian process, with the methods that an extension of the
// surrogate needs.
type Process interface {
	PriorFitter
	Model
	// Spec returns the kernel, the groups of coordinates that share a lengthscale, and the mean's
	// kind.
	Spec() gp.Spec
	// Standardize returns the outputs of the observations, at least one, in standardised units.
	Standardize(obs Observations) ([]float64, error)
}

// endOf returns whether the models of a task bend the tail of bad values. They do not with several
// objectives, since the worst values of one may be on the front, and with averages over agents
// ([task.StrategyType]).
func endOf(t *task.Task) tail { return tail(!t.Several() && !t.Strategy.Straight) }

// New returns the surrogate of the type that the task names, without an extension. With several
// objectives each has this model.
func New(t *task.Task) (Model, error) {
	shared, err := SharedMap(t)
	if err != nil {
		return nil, err
	}
	switch t.Surrogate.Type {
	case "exact":
		process := newExact(t, ProcessSpec(t), shared)
		process.end = endOf(t)
		if t.Surrogate.Fixed != nil {
			return newFixed(t, process), nil
		}
		return process, nil
	case "rff":
		return newLinear(t, shared), nil
	}
	return nil, fmt.Errorf("type %q: must be \"exact\" or \"rff\"", t.Surrogate.Type)
}

// ProcessSpec returns the specification of the Gaussian process that models the task's objective.
func ProcessSpec(t *task.Task) gp.Spec {
	spec := ConstraintSpec(t)
	spec.Centred = t.Surrogate.Fixed != nil
	return spec
}

// ConstraintSpec returns the specification of the Gaussian process that models a constraint, or the
// feasibility of designs. An objective without fixed hyperparameters has the same.
func ConstraintSpec(t *task.Task) gp.Spec {
	spec := gp.Spec{Kernel: t.Surrogate.Kernel}
	for parameter, block := range t.Space.Blocks() {
		for range block.Len {
			spec.Groups = append(spec.Groups, parameter)
		}
	}
	return spec
}

// InitialLengthscales returns the lengthscales that the task states, one per parameter.
func InitialLengthscales(t *task.Task) []float64 {
	var lengthscales []float64
	for _, block := range t.Space.Blocks() {
		l := t.Surrogate.Lengthscale
		if block.Kind == task.Categorical {
			l = t.Surrogate.CategoryLengthscale
		}
		lengthscales = append(lengthscales, l)
	}
	return lengthscales
}

// SharedMap returns the features over which all agents of the task express their shares. They are
// derived from the task's ID and are the same everywhere, bit for bit.
func SharedMap(t *task.Task) (*rff.Map, error) {
	lengthscales := make([]float64, t.Space.Dim())
	for _, block := range t.Space.Blocks() {
		for i := block.Start; i < block.Start+block.Len; i++ {
			lengthscales[i] = t.Surrogate.Lengthscale
			if block.Kind == task.Categorical {
				lengthscales[i] = t.Surrogate.CategoryLengthscale
			}
		}
	}
	m, err := rff.NewMap(taskSeed(t), rff.Spec{
		Kernel:       t.Surrogate.Kernel,
		Features:     t.Surrogate.Features,
		Lengthscales: lengthscales,
		Basis:        t.Surrogate.Basis,
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// taskSeed returns the seed of everything that is derived from the task alone. A change of the
// label below, or of the numbers derived from the seed, needs a new format version in the task.
func taskSeed(t *task.Task) random.Seed {
	hash := sha256.New()
	hash.Write([]byte("fbo shared features 1\x00"))
	hash.Write(t.ID().Bytes())
	return random.Seed(hash.Sum(nil))
}
