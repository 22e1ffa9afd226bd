package consensus

import (
	"github.com/libp2p/go-libp2p/core/peer"
)

// Weights are those with which an agent averages the candidates of a closed round,
// its own among them.
func (r Round) Weights(self peer.ID, settings Settings) map[peer.ID]float64 {
	row := map[peer.ID]float64{self: 1}
	for i, weight := range r.council(self, settings).weights() {
		row[r.Voices[i].Peer] += weight
		row[self] -= weight
	}
	return row
}
