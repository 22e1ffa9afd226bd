package strategy

import (
	"fmt"
	"math"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Source names what a design came from, in a word for programs. Strategies have
// further ones of their own.
type Source string

// Sources of designs that no strategy has chosen by what it knows.
const (
	Enqueued  Source = "enqueued"  // to be evaluated first, as the user says
	Initial   Source = "initial"   // random, before the surrogate knows anything
	Remaining Source = "remaining" // random, since nearly all designs of the space have been tried
	Imported  Source = "imported"  // told by the user
)

// Own is the source of designs that maximise a sample of the agent's own posterior.
const Own Source = "own"

// Why says how a design was chosen. Strategy fts uses the share that is named here
// only once.
type Why struct {
	Source         Source          `json:"source"`
	Phrase         string          `json:"phrase,omitempty"`          // the same for people; empty for the sources of this package
	OwnProbability *float64        `json:"own_probability,omitempty"` // the chance that the agent's own model had; nil when there was no choice
	Peer           peer.ID         `json:"peer,omitempty"`
	Stamp          *protocol.Stamp `json:"stamp,omitempty"`        // which of the peer's shares
	Observations   int             `json:"observations,omitempty"` // that the peer's share, or those of all peers used, rested on
	PeerCount      int             `json:"peer_count,omitempty"`   // number of peers whose shares were used
	Round          int             `json:"round,omitempty"`        // of the consensus
	NextBest       uint64          `json:"next_best,omitempty"`    // the trial that had the maximiser already, or ran or failed near it
	RepeatOf       uint64          `json:"repeat_of,omitempty"`    // the trial with the same design
}

// AddObservations adds what a peer's share rests on to a Why's Observations. Peers
// may claim any number; the sum stops at the largest that every int holds.
func AddObservations(sum, claimed int) int { return min(sum, math.MaxInt32-claimed) + claimed }

// FromPeers tells whether the design rests on what peers shared: a strategy says so by
// Peer or PeerCount.
func (w Why) FromPeers() bool {
	switch w.Source {
	case Enqueued, Initial, Remaining, Imported:
		return false
	}
	return w.Peer != "" || w.PeerCount > 0
}

// String is a short phrase for people.
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
