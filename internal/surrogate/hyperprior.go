package surrogate

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// PriorFitter is a Model whose hyperparameters can be fitted with a prior other than its own.
type PriorFitter interface {
	// FitUnder is Fit with the given prior, which the result contains. nil means the model's own
	// prior.
	FitUnder(ctx context.Context, prior *gp.Prior, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error)
	// Evidence returns the information that the observations, at least one, contain about the
	// hyperparameters. It depends only on the arguments and rng.
	Evidence(ctx context.Context, obs Observations, rng *rand.Rand) (Evidence, error)
	// Prior returns the model's own prior.
	Prior() gp.Prior
}

// Evidence is the information that observations contain about the hyperparameters. It has one entry
// for the logarithm of each lengthscale, and last one for the logarithm of the noise. The entries
// are moments of the posterior of these logarithms under the model's own prior, estimated by draws.
//
// Two simpler estimates were worse. The point of largest posterior density is less informative:
// with five observations it is wherever the likelihood happens to be large. One step of Fisher
// scoring from the prior's mode, which is the same for all nodes, gives lengthscales that are too
// short for dissimilar nodes. The factor is up to twenty, whatever the number of observations.
//
// Evidence has two biases that compensate each other. First, the draws stay above the floors of a
// fit, but the difference from the prior treats the prior as a normal distribution without floors.
// A node without information therefore reports lengthscales that are a little too long: by a third
// in a space of two parameters, by less in larger spaces. Second, a few standardised outputs always
// have the standard deviation 1, which suggests lengthscales that are too short. Corrections of
// both biases made designs worse.
type Evidence struct {
	Mean      []float64 // posterior mean, limited to within MaxSpreads of the prior's mean
	Precision []float64 // posterior precision minus the prior's precision, 0 to MaxPrecision
}

// Limits of Evidence.
const (
	MaxSpreads   = 2   // standard deviations of the prior
	MaxPrecision = 1e4 // equal to protocol.MaxPrecision
)

// Numbers of draws for Evidence. More observations need fewer draws, because each draw takes longer
// and contains more information.
const (
	maxDraws          = 128
	minDraws          = 16
	drawnObservations = 2560 // number of draws times number of observations
	discarded         = 10   // number of first draws to discard, because they depend on the start at the prior's mode
)

var _ PriorFitter = (*exact)(nil)

func (e *exact) FitUnder(ctx context.Context, prior *gp.Prior, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	y, s, err := rescale(obs, e.end)
	if err != nil {
		return Hyperparameters{}, err
	}
	h, err := gp.FitUnder(ctx, e.spec, prior, obs.X, y, s.units().Variances(obs), startsOf(previous), rng)
	if err != nil {
		return Hyperparameters{}, err
	}
	return OfProcess(h), nil
}

func (e *exact) Evidence(ctx context.Context, obs Observations, rng *rand.Rand) (Evidence, error) {
	y, s, err := rescale(obs, e.end)
	if err != nil {
		return Evidence{}, err
	}
	count := min(max(drawnObservations/len(y), minDraws), maxDraws)
	draws, err := gp.Sample(ctx, e.spec, obs.X, y, s.units().Variances(obs), gp.PriorMode(e.spec), discarded+count, rng)
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
