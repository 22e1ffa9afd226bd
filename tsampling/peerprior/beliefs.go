package peerprior

import (
	"fmt"
	"slices"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/optimum"
)

var _ strategy.Believer = (*Strategy)(nil)

// Beliefs implements strategy.Believer: the probability that what each peer says is of use.
// By it means, or with guarded shares places, count in their average.
func (s *Strategy) Beliefs(view strategy.View) ([]strategy.Belief, error) {
	x, y, _, err := observations(s.task, view)
	if err != nil {
		return nil, fmt.Errorf("peerprior: %w", err)
	}
	d := newData(s.spec, s.hyperparameters(view), x, y)
	var all []strategy.Belief
	for said, mean := range strategy.Shares[*share](view) {
		if mean.Explained < leastExplained || len(all) == mostPeers {
			continue
		}
		if p := s.read(mean, x); p != nil {
			judge([]*listened{p}, d)
			all = append(all, strategy.Belief{Peer: said.Author, Use: p.use, Heard: mean.Observations})
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	var places []*optimum.Mixture
	for said, density := range strategy.Shares[protocol.Density](view) {
		if len(places) == mostPeers {
			break
		}
		places = append(places, optimum.NewMixture(s.layout, s.task.Space, density))
		all = append(all, strategy.Belief{Peer: said.Author, Heard: density.Observations})
	}
	for i, use := range s.uses(places, d) {
		all[i].Use = use
	}
	return slices.DeleteFunc(all, func(b strategy.Belief) bool { return b.Use == 0 }), nil
}
