package securesum

import (
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/strategy"
)

// Warnings reports nodes that violated the protocol, each at most once in a run for each violation.
type Warnings struct {
	Self                   peer.ID
	outvoted, disqualified []peer.ID // nodes that were reported
}

// Of returns the warnings about the outcome of a round.
func (w *Warnings) Of(o Outcome) (out []strategy.Output) {
	for _, id := range o.Outvoted {
		if !slices.Contains(w.outvoted, id) {
			w.outvoted = append(w.outvoted, id)
			out = append(out, strategy.Warn{Message: fmt.Sprintf("round %d: what node %s said of the private sum did not fit what the others said, who outvoted it", o.Round, id)})
		}
	}
	for _, id := range o.Disqualified {
		if slices.Contains(w.disqualified, id) {
			continue
		}
		w.disqualified = append(w.disqualified, id)
		why := fmt.Sprintf("round %d: node %s has dealt parts of a private sum that do not fit together, as its signature proves; what it gives counts no more", o.Round, id)
		if id == w.Self {
			why = fmt.Sprintf("round %d: this node has dealt parts of a private sum that do not fit together, as its signature proves; it contributes to no further sum. That happens when a data directory is put back to an earlier state, or used twice", o.Round)
		}
		out = append(out, strategy.Warn{Message: why})
	}
	return out
}
