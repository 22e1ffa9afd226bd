package peerprior

import (
	"math"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

var _ strategy.PeerWeigher = (*Strategy)(nil)

// PeerWeights uses at most maxWeighed observations for up to maxPeers shares, and fewer for more
// shares: its cost grows with the number of shares times the cube of the number of observations.
const maxWeighed = 300

// weighed returns the number of observations with which the cost for that many shares is at most that
// of maxPeers shares with maxWeighed observations.
func weighed(shares int) int {
	return int(maxWeighed * math.Cbrt(min(1, float64(maxPeers)/float64(shares))))
}

// judged is a peer's share that PeerWeights judges. read returns nil if the share has no information.
type judged struct {
	peer         peer.ID
	observations int
	read         func(own [][]float64) *peerSignal
}

// PeerWeights implements strategy.PeerWeigher. It returns the probability that each peer's share is
// useful, given the newest observations. With exact shares, these probabilities are the weights of the
// peers in the consensus. With coarse shares the strategy judges only the average of all shares.
// PeerWeights judges each share separately, by the same rule. It computes nothing if there are no
// shares.
func (s *Strategy) PeerWeights(view strategy.View) ([]strategy.PeerWeight, error) {
	shares := s.received(view)
	if len(shares) == 0 {
		return nil, nil
	}
	own, err := observations(s.task, view)
	if err != nil {
		return nil, err
	}
	newest := own.newest(weighed(len(shares)))
	d := newData(s.spec, s.hyperparameters(view), newest)
	var all []strategy.PeerWeight
	for _, share := range shares {
		if p := share.read(newest.x); p != nil {
			weighPeers([]*peerSignal{p}, d)
			all = append(all, strategy.PeerWeight{Peer: share.peer, Use: p.use, Received: share.observations})
		}
	}
	return all, nil
}

// received returns the shares that PeerWeights judges: exact ones, or coarse ones if there are no
// exact ones.
func (s *Strategy) received(view strategy.View) (all []judged) {
	for from, mean := range strategy.Shares[*share](view) {
		if mean.Explained >= minExplained {
			all = append(all, judged{from.Author, mean.Observations, func(own [][]float64) *peerSignal { return s.read(mean, own) }})
		}
	}
	if len(all) > 0 {
		return all
	}
	for from, density := range strategy.Shares[protocol.Density](view) {
		all = append(all, judged{from.Author, density.Observations, func(own [][]float64) *peerSignal {
			average := optprior.NewAverage(s.densities([]protocol.Density{density}))
			return s.ownStatement(Statement{Explained: densityExplained, Value: average.Value}, own)
		}})
	}
	return all
}
