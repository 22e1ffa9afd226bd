package strategy

import (
	"fmt"
	"math"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Source names the origin of a design in one word for programs. Strategies define further
// sources.
type Source string

// Sources of designs that no strategy has chosen from observations or shares.
const (
	Enqueued  Source = "enqueued"  // from the user, to be evaluated first
	Initial   Source = "initial"   // random, before the surrogate knows anything
	Remaining Source = "remaining" // random, since nearly all designs of the space have been tried
	Imported  Source = "imported"  // evaluated outside of the node, with an outcome from the user
)

// Own is the source of designs that maximise a sample of the agent's own posterior.
const Own Source = "own"

// Why holds how a design was chosen. Strategy fts uses the share that Peer and Stamp name
// only once.
type Why struct {
	Source         Source          `json:"source"`
	Phrase         string          `json:"phrase,omitempty"`          // the same for people; empty for the sources of this package
	OwnProbability *float64        `json:"own_probability,omitempty"` // the probability that the agent's own model was used; nil when there was no choice
	Peer           peer.ID         `json:"peer,omitempty"`
	Stamp          *protocol.Stamp `json:"stamp,omitempty"`        // which of the peer's shares
	Observations   int             `json:"observations,omitempty"` // behind the peer's share, or behind the shares of all peers used
	PeerCount      int             `json:"peer_count,omitempty"`   // number of peers whose shares were used
	Round          int             `json:"round,omitempty"`        // of the consensus
	NextBest       uint64          `json:"next_best,omitempty"`    // the trial that has the maximiser, or ran or failed near it
	RepeatOf       uint64          `json:"repeat_of,omitempty"`    // the trial with the same design
}

// AddObservations adds the observations behind a peer's share to a Why's Observations. Peers
// may claim any number; the sum is at most the largest number that every int holds.
func AddObservations(sum, claimed int) int { return min(sum, math.MaxInt32-claimed) + claimed }

// FromPeers reports whether the design depends on peers' shares: a strategy then sets
// Peer or PeerCount.
func (w Why) FromPeers() bool {
	switch w.Source {
	case Enqueued, Initial, Remaining, Imported:
		return false
	}
	return w.Peer != "" || w.PeerCount > 0
}

// String returns a short phrase for people.
func (w Why) String() string {
	switch {
	case w.NextBest > 0:
		return fmt.Sprintf("%s, next best after trial %d", w.phrase(), w.NextBest)
	case w.RepeatOf > 0:
		return fmt.Sprintf("%s, trial %d again", w.phrase(), w.RepeatOf)
	}
	return w.phrase()
}

func (w Why) phrase() string {
	switch {
	case w.Phrase != "":
		return w.Phrase
	case w.Source == Enqueued:
		return "given by the user"
	case w.Source == Initial:
		return "random start"
	case w.Source == Own:
		return "own sample"
	case w.Source == Remaining:
		return "random, since nearly all designs have been tried"
	case w.Source == Imported:
		return "imported"
	}
	return string(w.Source)
}
