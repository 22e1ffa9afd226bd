package strategy

import (
	"fmt"
	"math"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Source is the origin of a design, one word for programs. Strategies define further sources.
type Source string

// The sources below belong to designs that no strategy has chosen from observations or shares.
const (
	Enqueued  Source = "enqueued"  // given by the user and evaluated before all others
	Initial   Source = "initial"   // random, before the surrogate has observations
	Remaining Source = "remaining" // random, since nearly all designs of the space have been tried
	Imported  Source = "imported"  // evaluated outside of the node, with an outcome from the user
)

// Own is the source of designs that maximise a sample of the agent's own posterior.
const Own Source = "own"

// Why records how a design was chosen. Strategy fts uses each share only once and identifies it by
// Peer and Stamp.
type Why struct {
	Source         Source          `json:"source"`
	Phrase         string          `json:"phrase,omitempty"`          // the source as a phrase for people; empty for the sources of this package
	OwnProbability *float64        `json:"own_probability,omitempty"` // probability with which the agent's own model was chosen over peers' shares; nil if there was no such choice
	Peer           peer.ID         `json:"peer,omitempty"`
	Stamp          *protocol.Stamp `json:"stamp,omitempty"`        // stamp of the share of Peer that was used
	Observations   int             `json:"observations,omitempty"` // number of observations that the used shares are computed from
	PeerCount      int             `json:"peer_count,omitempty"`   // number of peers whose shares were used
	Round          int             `json:"round,omitempty"`        // round of the consensus
	NextBest       uint64          `json:"next_best,omitempty"`    // ID of the trial that prevented the maximiser: it had the same design, or ran or failed near it
	RepeatOf       uint64          `json:"repeat_of,omitempty"`    // ID of the earlier trial with the same design
}

// AddObservations adds the number of observations that a peer claims for its share to a sum of such
// numbers. The sum saturates at math.MaxInt32, since peers may claim any number.
func AddObservations(sum, claimed int) int { return min(sum, math.MaxInt32-claimed) + claimed }

// FromPeers reports whether the design depends on peers' shares. A strategy sets Peer or PeerCount
// for such designs.
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
