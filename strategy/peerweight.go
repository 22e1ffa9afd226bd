package strategy

import "github.com/libp2p/go-libp2p/core/peer"

// PeerWeigher is an optional interface of a Strategy that weights each peer by how well its shares
// predict the agent's own outcomes. In a large topic the agent chooses by them whose shares it fetches;
// otherwise they are only displayed.
type PeerWeigher interface {
	// PeerWeights returns the weights of all peers whose shares the strategy uses, in no particular
	// order. It may take as long as Suggest.
	PeerWeights(view View) ([]PeerWeight, error)
}

// PeerWeight is the weight of one peer.
type PeerWeight struct {
	Peer     peer.ID
	Use      float64 // the probability that the peer's share is useful, from 0 to 1
	Received int     // number of observations that the peer's share uses, as the peer reports it
}
