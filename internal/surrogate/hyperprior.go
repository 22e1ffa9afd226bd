package surrogate

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// PriorFitter is a Model whose hyperparameters can be fitted under another prior.
type PriorFitter interface {
	// FitUnder is Fit with another prior, which the result contains; nil is the model's own.
	FitUnder(ctx context.Context, prior *gp.Prior, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error)
	// Evidence returns the information of the observations, at least one, about the
	// hyperparameters. It depends only on the arguments and rng.
	Evidence(ctx context.Context, obs Observations, rng *rand.Rand) (Evidence, error)
	// Prior returns the model's own prior.
	Prior() gp.Prior
}

// Evidence is the information of observations about the logarithms of hyperparameters, those of the
// lengthscales first and that of the noise last: the moments of their posterior under the model's
// own prior, estimated by draws. (The point of largest density is less informative: with five
// observations it is where the likelihood happens to be large. One step of Fisher scoring from the
// prior's mode, which is the same for all nodes, gives lengthscales that are too short, by a factor
// of up to twenty for dissimilar nodes, whatever the number of observations.)
//
// The draws stay above the floors of a fit, but the prior is treated as a normal distribution
// without floors. Therefore a node without information reports lengthscales that are a little
// longer, by a third in a space of two parameters and less in others. This compensates an opposite
// bias: a few standardised outputs have deviation 1 whatever the lengthscales, and suggest shorter
// ones. Without both biases, designs were worse.
type Evidence struct {
	Mean      []float64 // of the posterior, within MaxSpreads of the prior's mean
	Precision []float64 // precision of the posterior minus that of the prior: 0 to MaxPrecision
}

// Limits of Evidence.
const (
	MaxSpreads   = 2   // of the prior
	MaxPrecision = 1e4 // protocol.MaxPrecision
)

// Numbers of draws of Evidence: fewer for more observations, for which each draw takes longer and
// contains more information.
const (
	maxDraws          = 128
	minDraws          = 16
	drawnObservations = 2560 // draws times observations
	discarded         = 10   // first draws, which depend on the prior's mode
)

var _ PriorFitter = (*exact)(nil)

func (e *exact) FitUnder(ctx context.Context, prior *gp.Prior, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	y, _, err := rescale(obs, e.end)
	if err != nil {
		return Hyperparameters{}, err
	}
	h, err := gp.FitUnder(ctx, e.spec, prior, obs.X, y, startsOf(previous), rng)
	if err != nil {
		return Hyperparameters{}, err
	}
	return OfProcess(h), nil
}

func (e *exact) Evidence(ctx context.Context, obs Observations, rng *rand.Rand) (Evidence, error) {
	y, _, err := rescale(obs, e.end)
	if err != nil {
		return Evidence{}, err
	}
	count := min(max(drawnObservations/len(y), minDraws), maxDraws)
	draws, err := gp.Sample(ctx, e.spec, obs.X, y, gp.PriorMode(e.spec), discarded+count, rng)
	if err != nil {
		return Evidence{}, err
	}
	var evidence Evidence
	prior := e.Prior()
	for i, spread := range prior.Spread {
		var logarithms []float64
		for _, h := range draws[discarded:] {
			logarithms = append(logarithms, h.Logarithms()[i])
		}
		mean, variance := stat.PopMeanVariance(logarithms, nil)
		at, reach := prior.Location[i], MaxSpreads*spread
		evidence.Mean = append(evidence.Mean, min(max(mean, at-reach), at+reach))
		evidence.Precision = append(evidence.Precision, min(max(1/variance-1/(spread*spread), 0), MaxPrecision))
	}
	return evidence, nil
}

func (e *exact) Prior() gp.Prior { return gp.StandardPrior(e.spec) }
