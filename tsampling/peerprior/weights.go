package peerprior

import (
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

var _ strategy.PeerWeigher = (*Strategy)(nil)

// maxWeighed is the maximum number of observations that PeerWeights uses. Its cost grows with the
// cube of this number.
const maxWeighed = 300

// PeerWeights implements strategy.PeerWeigher. It returns the probability that each peer's share is
// useful, given the newest observations, at most maxWeighed. With exact shares, these probabilities
// are the weights of the peers in the consensus. With coarse shares the strategy judges only the
// average of all shares. PeerWeights judges each share separately, by the same rule. It computes
// nothing if there are no shares.
func (s *Strategy) PeerWeights(view strategy.View) ([]strategy.PeerWeight, error) {
	var all []strategy.PeerWeight
	var x [][]float64
	var d *data // nil before the first share
	add := func(author peer.ID, behind int, read func() *peerSignal) error {
		if len(all) == maxPeers {
			return nil
		}
		if d == nil {
			own, err := observations(s.task, view)
			if err != nil {
				return err
			}
			newest := own.newest(maxWeighed)
			x = newest.x
			d = newData(s.spec, s.hyperparameters(view), newest)
		}
		if p := read(); p != nil {
			weighPeers([]*peerSignal{p}, d)
			all = append(all, strategy.PeerWeight{Peer: author, Use: p.use, Received: behind})
		}
		return nil
	}
	for said, mean := range strategy.Shares[*share](view) {
		if mean.Explained < minExplained {
			continue
		}
		if err := add(said.Author, mean.Observations, func() *peerSignal { return s.read(mean, x) }); err != nil {
			return nil, err
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	for said, density := range strategy.Shares[protocol.Density](view) {
		densityPeers := s.densities([]protocol.Density{density})
		statement := Statement{Explained: densityExplained, Value: optprior.NewAverage(densityPeers).Value}
		if err := add(said.Author, density.Observations, func() *peerSignal { return s.ownStatement(statement, x) }); err != nil {
			return nil, err
		}
	}
	return all, nil
}
