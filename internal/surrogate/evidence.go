package surrogate

import (
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// EvidenceModel is an optional interface of a Model that measures how well hyperparameters explain
// observations. Nodes that fit the same observations on different processors use it to compare
// their hyperparameters.
type EvidenceModel interface {
	// LogPosterior returns the log posterior density of h given all observations, up to a constant.
	// Fit maximises the same density.
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

// LeaveOneOuter is an optional interface of a Posterior that computes leave-one-out residuals.
type LeaveOneOuter interface {
	// LeaveOneOut returns one residual for each observation: its signed distance from the posterior
	// mean given all other observations, divided by the predictive standard deviation of an
	// observation.
	LeaveOneOut() []float64
}

var _ LeaveOneOuter = (*exactPosterior)(nil)

func (p *exactPosterior) LeaveOneOut() []float64 { return p.process.LeaveOneOut() }
