package consensus

import (
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/task"
)

// Weights are those with which an agent averages the candidates of a closed round,
// its own among them.
func (r Round) Weights(self peer.ID, settings *task.Consensus) map[peer.ID]float64 {
	row := map[peer.ID]float64{self: 1}
	for i, weight := range r.council(self, settings).weights() {
		row[r.Voices[i].Peer] += weight
		row[self] -= weight
	}
	return row
}
