package strategy

import "github.com/libp2p/go-libp2p/core/peer"

// PeerWeigher is an optional interface of a Strategy that weighs each peer by how well its shares
// fit the agent's own outcomes. The weights are for display; no choice depends on them.
type PeerWeigher interface {
	// PeerWeights lists the peers that the strategy weighs, in no particular order. It may take
	// as long as Suggest.
	PeerWeights(view View) ([]PeerWeight, error)
}

// PeerWeight is the weight of one peer.
type PeerWeight struct {
	Peer     peer.ID
	Use      float64 // the probability that the peer's share is useful, from 0 to 1
	Received int     // observations behind the peer's share
}
