package surrogate

import (
	"fmt"

	"github.com/fbo-node/fbo/surrogate/gp"
)

// Judge is what a Model may be too, when it can say how well hyperparameters explain
// observations: nodes that fit the same observations on different processors compare
// their results by it.
type Judge interface {
	// LogPosterior returns the logarithm of the density that Fit maximises, up to a
	// constant, on all the observations.
	LogPosterior(obs Observations, h Hyperparameters) (float64, error)
}

var _ Judge = (*exact)(nil)

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

// Surprise is what a Posterior may be too, when it can say how far each of its
// observations lies from what the others predict.
type Surprise interface {
	// LeaveOneOut returns for each observation its distance from the mean that the
	// process has there given all others, in standard deviations of an observation.
	LeaveOneOut() []float64
}

var _ Surprise = (*exactPosterior)(nil)

func (p *exactPosterior) LeaveOneOut() []float64 { return p.process.LeaveOneOut() }
