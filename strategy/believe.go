package strategy

import "github.com/libp2p/go-libp2p/core/peer"

// Believer is what a Strategy may be too, when it weighs each peer by whether what it says
// fits the agent's own outcomes. It is for people: nothing is chosen by it.
type Believer interface {
	// Beliefs lists the peers that the strategy weighs, in no particular order. It may take
	// as long as Suggest.
	Beliefs(view View) ([]Belief, error)
}

// Belief is how much one peer is believed.
type Belief struct {
	Peer  peer.ID
	Use   float64 // the probability that what the peer says is of use, from 0 to 1
	Heard int     // observations behind what the peer says
}
