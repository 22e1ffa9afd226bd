package strategy

import "github.com/libp2p/go-libp2p/core/peer"

// PeerWeigher is what a Strategy may be too, when it weighs each peer by whether what it says
// fits the agent's own outcomes. It is for people: nothing is chosen by it.
type PeerWeigher interface {
	// Beliefs lists the peers that the strategy weighs, in no particular order. It may take
	// as long as Suggest.
	PeerWeights(view View) ([]PeerWeight, error)
}

// PeerWeight is how much one peer is believed.
type PeerWeight struct {
	Peer     peer.ID
	Use      float64 // the probability that what the peer says is of use, from 0 to 1
	Received int     // observations behind what the peer says
}
