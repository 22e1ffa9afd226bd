package peerprior

import (
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Statement is something said about the objective that is no peer's share, such as
// what a sum over many peers tells.
type Statement struct {
	Observations int     // that it rests on; with more than the task's starting designs these may be skipped
	Explained    float64 // the part of the prior variance of the objective that it explains, 0 to 1

	// Value returns the objective at an encoded design, up to a constant and a
	// positive factor.
	Value func(x []float64) float64
}

// NewFrom returns the strategy of an agent that listens to statements in place of
// peers' shares.
func NewFrom(t *task.Task, features *rff.Map, hear func(view strategy.View) []Statement) (*Strategy, error) {
	s, err := New(t, features)
	if err != nil {
		return nil, err
	}
	s.hear = hear
	return s, nil
}

// stated lists what is worth hearing.
func (s *Strategy) stated(view strategy.View) []*listened {
	var all []*listened
	for _, said := range s.hear(view) {
		if said.Explained >= leastExplained {
			all = append(all, &listened{
				share: &share{Mean: protocol.Mean{Observations: said.Observations, Explained: said.Explained}},
				says:  said.Value,
			})
		}
	}
	return all
}
