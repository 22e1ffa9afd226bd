package peerprior

import (
	"fmt"

	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
)

var _ strategy.Believer = (*Strategy)(nil)

// Beliefs implements strategy.Believer: the probability that each peer's mean is of use, as
// it weighs in the average of all means. With guarded shares peers are not weighed one by one,
// and there are none.
func (s *Strategy) Beliefs(view strategy.View) ([]strategy.Belief, error) {
	if !s.ofPeers {
		return nil, nil
	}
	x, y, _, err := observations(s.task, view)
	if err != nil {
		return nil, fmt.Errorf("peerprior: %w", err)
	}
	d := newData(s.spec, s.hyperparameters(view), x, y)
	authors := map[*share]strategy.Belief{}
	for said, value := range strategy.Shares[*share](view) {
		authors[value] = strategy.Belief{Peer: said.Author, Heard: value.Observations}
	}
	var all []strategy.Belief
	for _, said := range heard(view, 0, random.SeedOf(0)) {
		if p := s.read(said, x); p != nil {
			judge([]*listened{p}, d)
			belief := authors[said]
			belief.Use = p.use
			all = append(all, belief)
		}
	}
	return all, nil
}
