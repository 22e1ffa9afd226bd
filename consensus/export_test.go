package consensus

import (
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

// Weights are those with which an agent averages the candidates of a closed round,
// its own among them.
func (r Round) Weights(view strategy.View, settings Settings) map[peer.ID]float64 {
	row := map[peer.ID]float64{view.Self: 1}
	for i, weight := range r.averager(view.Task.Space, view, settings).weights() {
		row[r.Candidates[i].Peer] += weight
		row[view.Self] -= weight
	}
	return row
}
