package surrogate

import (
	"fmt"

	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/surrogate/gp"
)

// Judge is what a Model may be too, when it can say how well hyperparameters explain
// observations: nodes that fit the same observations on different processors compare
// their results by it.
type Judge interface {
	// LogPosterior returns the logarithm of a posterior density of the hyperparameters, up
	// to a constant, on all the observations. For exact it is the density that Fit maximises;
	// for rff that of the own features, with a prior of the noise only.
	LogPosterior(obs Observations, h Hyperparameters) (float64, error)
}

var (
	_ Judge = (*exact)(nil)
	_ Judge = (*linear)(nil)
)

func (e *exact) LogPosterior(obs Observations, h Hyperparameters) (float64, error) {
	y, _, err := rescale(obs, e.end)
	if err != nil {
		return 0, err
	}
	value, err := gp.LogPosterior(e.spec, obs.X, y, h.Process())
	if err != nil {
		return 0, fmt.Errorf("surrogate: %w", err)
	}
	return value, nil
}

func (l *linear) LogPosterior(obs Observations, h Hyperparameters) (float64, error) {
	y, err := standardise(obs)
	if err != nil {
		return 0, err
	}
	own, err := l.own(h, len(y))
	if err != nil {
		return 0, err
	}
	evidence, err := rff.NewEvidence(own, obs.X, y)
	if err != nil {
		return 0, fmt.Errorf("surrogate: %w", err)
	}
	value, err := evidence.Log(priorVariance, h.Noise)
	if err != nil {
		return 0, fmt.Errorf("surrogate: %w", err)
	}
	return value + gp.LogNoisePrior(h.Noise), nil
}

// Surprise is what a Posterior may be too, when it can say how far each of its
// observations lies from what the others predict.
type Surprise interface {
	// LeaveOneOut returns for each observation its distance from the mean that the
	// process has there given all others, in standard deviations of an observation.
	LeaveOneOut() []float64
}

var _ Surprise = (*exactPosterior)(nil)

func (p *exactPosterior) LeaveOneOut() []float64 { return p.process.LeaveOneOut() }
