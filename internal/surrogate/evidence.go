package surrogate

import (
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// EvidenceModel is what a Model may be too, when it can say how well hyperparameters explain
// observations: nodes that fit the same observations on different processors compare
// their results by it.
type EvidenceModel interface {
	// LogPosterior returns the logarithm of the density that Fit maximises, up to a
	// constant, on all the observations.
	LogPosterior(obs Observations, h Hyperparameters) (float64, error)
}

var _ EvidenceModel = (*exact)(nil)

func (e *exact) LogPosterior(obs Observations, h Hyperparameters) (float64, error) {
	y, _, err := rescale(obs, e.end)
	if err != nil {
		return 0, err
	}
	value, err := gp.LogPosterior(e.spec, obs.X, y, h.Process())
	if err != nil {
		return 0, err
	}
	return value, nil
}

// LeaveOneOuter is what a Posterior may be too, when it can say how far each of its
// observations lies from what the others predict.
type LeaveOneOuter interface {
	// LeaveOneOut returns for each observation its distance from the mean that the
	// process has there given all others, in standard deviations of an observation.
	LeaveOneOut() []float64
}

var _ LeaveOneOuter = (*exactPosterior)(nil)

func (p *exactPosterior) LeaveOneOut() []float64 { return p.process.LeaveOneOut() }
