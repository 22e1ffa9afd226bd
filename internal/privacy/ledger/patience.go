package ledger

import (
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// Patience is the time for which silent peers delay releases. An exchange counts it in units of
// Beat. An attacker can announce any number of silent peers at any time. Therefore the limit
// applies to the ledger as a whole, and not to each peer.
const (
	Patience = 5 * time.Minute
	Beat     = 30 * time.Second
)

// patience holds the waiting time of a ledger.
type patience struct {
	beats int  // number of consecutive beats at which too few of the present peers had sent their shares
	over  bool // the ledger no longer waits for silent peers
}

// Count records that one Beat has passed. present are the present peers, including the node itself.
// If the ledger stops waiting for silent peers, or begins to wait again, change describes that for
// the user, once. Otherwise it is empty.
func (l *Ledger) Count(present []peer.ID) (change string) {
	reported, others := l.reportedBy(present), len(present)-1
	if 2*reported > others {
		ended := l.patience.over
		l.patience = patience{}
		if ended && l.Open() {
			return "enough of the present nodes have reported what they store of this node; its private releases wait again for the others"
		}
		return ""
	}
	if others < 1 {
		l.patience.beats = 0
		return ""
	}
	l.patience.beats++
	if l.patience.over || reported == 0 || l.patience.beats < int(Patience/Beat) || !l.Open() {
		return ""
	}
	l.patience.over = true
	return fmt.Sprintf("this node's private releases no longer wait for %d of %s present: in %d minutes they have not reported what they store of this node, and may only appear to be present",
		others-reported, sanitize.Count(others, "other node"), int(Patience.Minutes()))
}
