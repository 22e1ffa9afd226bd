package surrogate

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// PriorFitter is a Model whose hyperparameters can be fitted under another prior.
type PriorFitter interface {
	// FitUnder is Fit by another prior, which the result names; nil is the model's own.
	FitUnder(ctx context.Context, prior *gp.Prior, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error)
	// Evidence says what the observations, at least one, tell of the hyperparameters. It
	// depends on the arguments and rng alone.
	Evidence(ctx context.Context, obs Observations, rng *rand.Rand) (Evidence, error)
	// Prior is the model's own.
	Prior() gp.Prior
}

// Evidence is what observations tell of the logarithms of hyperparameters, those of the
// lengthscales first and that of the noise last: the moments of their posterior under the
// model's own prior, estimated by draws. (The place of largest density is a worse
// witness: with five observations it is where the likelihood happens to be large. One
// step of Fisher scoring from the prior's mode, a place that is the same for all nodes, ends
// at lengthscales that are too short, by a factor of up to twenty where nodes are unlike,
// however much was observed.)
//
// The draws keep above the floors of a fit, and the prior is taken for a normal without any.
// So who knows nothing says that lengthscales are a little longer, by a third in a space
// of two parameters and less in others. That makes up for what a few standardised outputs
// say, whose deviation is 1 however long the waves: that they are shorter. With
// neither, designs were worse.
type Evidence struct {
	Mean      []float64 // of the posterior, within MaxSpreads of the prior's mean
	Precision []float64 // by how much the posterior's is above the prior's: 0 to MaxPrecision
}

// The bounds on Evidence.
const (
	MaxSpreads   = 2   // of the prior
	MaxPrecision = 1e4 // protocol.MaxPrecision
)

// How many draws Evidence takes: fewer from more observations, of which each draw takes
// longer and says more.
const (
	maxDraws          = 128
	minDraws          = 16
	drawnObservations = 2560 // draws times observations
	discarded         = 10   // before the chain has left the prior's mode behind
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
