package surrogate

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/fbo-node/fbo/surrogate/gp"
)

// Pupil is what a Model may be too, when peers can help it to learn its hyperparameters.
type Pupil interface {
	// FitUnder is Fit by another prior, which the result names; nil is the model's own.
	FitUnder(ctx context.Context, prior *gp.Prior, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error)
	// Evidence says what the observations, at least one, tell of the hyperparameters. It
	// depends on the arguments and rng alone.
	Evidence(ctx context.Context, obs Observations, rng *rand.Rand) (Evidence, error)
	// Prior is the model's own.
	Prior() gp.Prior
}

// Evidence is what observations tell of the logarithms of hyperparameters, those of the
// lengthscales first and that of the noise last. It is one step of Fisher scoring from the
// mode of the model's own prior, a place that is the same for all nodes. (The place of largest
// density of each node itself is a worse witness: with five observations it is where the
// likelihood happens to be large, and the average of such places is no estimate of anything.)
type Evidence struct {
	// Mode is where the posterior density would be largest if the likelihood were a
	// parabola, within MostSpreads of the prior's mode.
	Mode []float64
	// Curvature is that of the parabola, the expected one of the log likelihood: 0 to
	// MostCurvature.
	Curvature []float64
}

// The bounds on Evidence.
const (
	MostSpreads   = 2   // of the prior
	MostCurvature = 1e4 // protocol.MaxCurvature
)

var _ Pupil = (*exact)(nil)

func (e *exact) FitUnder(ctx context.Context, prior *gp.Prior, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	y, _, err := rescale(obs, e.end)
	if err != nil {
		return Hyperparameters{}, err
	}
	h, err := gp.FitUnder(ctx, e.spec, prior, obs.X, y, startsOf(previous), rng)
	if err != nil {
		return Hyperparameters{}, fmt.Errorf("surrogate: %w", err)
	}
	return Hyperparameters(h), nil
}

func (e *exact) Evidence(ctx context.Context, obs Observations, rng *rand.Rand) (Evidence, error) {
	y, _, err := rescale(obs, e.end)
	if err != nil {
		return Evidence{}, err
	}
	slope, information, err := gp.Score(ctx, e.spec, obs.X, y, gp.PriorMode(e.spec), rng)
	if err != nil {
		return Evidence{}, fmt.Errorf("surrogate: %w", err)
	}
	prior, evidence := e.Prior(), Evidence{Curvature: information}
	for i, at := range prior.Location {
		spread := prior.Spread[i]
		information[i] = min(information[i], MostCurvature)
		step := slope[i] / (information[i] + 1/(spread*spread))
		evidence.Mode = append(evidence.Mode, at+min(max(step, -MostSpreads*spread), MostSpreads*spread))
	}
	return evidence, nil
}

func (e *exact) Prior() gp.Prior { return gp.StandardPrior(e.spec) }
