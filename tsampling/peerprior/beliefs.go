package peerprior

import (
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

var _ strategy.Believer = (*Strategy)(nil)

// Beliefs implements strategy.Believer: the probability that what each peer says is of use.
// Means weigh by it in the average of all means. Of guarded shares the strategy makes one
// statement, which it judges as a whole; here each is judged by itself, by the same rule.
func (s *Strategy) Beliefs(view strategy.View) ([]strategy.Belief, error) {
	x, y, _, err := observations(s.task, view)
	if err != nil {
		return nil, fmt.Errorf("peerprior: %w", err)
	}
	d := newData(s.spec, s.hyperparameters(view), x, y)
	var all []strategy.Belief
	add := func(author peer.ID, p *listened, observations int) {
		if p != nil && len(all) < mostPeers {
			judge([]*listened{p}, d)
			all = append(all, strategy.Belief{Peer: author, Use: p.use, Heard: observations})
		}
	}
	for said, mean := range strategy.Shares[*share](view) {
		if mean.Explained >= leastExplained {
			add(said.Author, s.read(mean, x), mean.Observations)
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	for said, density := range strategy.Shares[protocol.Density](view) {
		places := s.densities([]protocol.Density{density})
		value := func(x []float64) float64 { return pooled(places, x) }
		add(said.Author, s.stated(Statement{Explained: placesExplain, Value: value}, x), density.Observations)
	}
	return all, nil
}
