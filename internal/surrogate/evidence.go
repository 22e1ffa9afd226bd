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

// LeaveOuter is an optional interface of a Posterior that computes how well observations predict
// each other.
type LeaveOuter interface {
	// LeaveOut returns one residual for each observation: its signed distance from the posterior
	// mean given all observations of other groups, divided by the predictive standard deviation of
	// an observation. groups has the group of each observation, from 0; nil means that each
	// observation is a group.
	LeaveOut(groups []int) []float64
}

var _ LeaveOuter = (*exactPosterior)(nil)

func (p *exactPosterior) LeaveOut(groups []int) []float64 { return p.process.LeaveOut(groups) }
