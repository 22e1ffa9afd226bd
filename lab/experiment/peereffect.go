package experiment

import (
	"fmt"
	"io"

	"github.com/fbo-node/fbo/strategy"
)

// PeerEffects counts agents by the verdict on the effect of peers' shares on their predictions
// (strategy.PeerEffect). It checks the verdicts by regrets, which only an experiment knows.
type PeerEffects struct {
	Improved     int `json:"improved"`
	NoDifference int `json:"no_difference"`
	Worsened     int `json:"worsened"`
	TooFew       int `json:"too_few_results"`

	// LowerRegret is the number of agents with a lower simple regret than with the reference. The
	// regret is averaged over the evaluations after the starting designs.
	LowerRegret int `json:"lower_regret"`
	// Agreeing is the number of agents whose verdict agrees with the regret: improved agents with a
	// lower regret, and worsened agents with a higher one.
	Agreeing int `json:"agreeing"`
}

// peerEffects returns the counts over a strategy's agents. It returns nil if no agent measures the
// effect, or if the reference has other counting agents.
func (s *sample) peerEffects(reference sample) *PeerEffects {
	var e PeerEffects
	at, measured := 0, false
	if len(s.members[0]) != len(reference.members[0]) {
		return nil
	}
	for _, record := range s.records {
		for _, m := range record.Members {
			mine, theirs := mean(s.members[0][at][min(s.initial, s.length):]), mean(reference.members[0][at][min(s.initial, s.length):])
			at++
			if m.PeerEffect == nil {
				continue
			}
			measured = true
			if mine < theirs {
				e.LowerRegret++
			}
			switch m.PeerEffect.Verdict {
			case strategy.PeersImproved:
				e.Improved++
				if mine < theirs {
					e.Agreeing++
				}
			case strategy.PeersWorsened:
				e.Worsened++
				if mine > theirs {
					e.Agreeing++
				}
			case strategy.PeersNoEffect:
				e.NoDifference++
			default:
				e.TooFew++
			}
		}
	}
	if !measured {
		return nil
	}
	return &e
}

// writePeerEffects writes the counts of each strategy whose agents measure the effect.
func (r Report) writePeerEffects(w io.Writer) {
	for _, s := range r.Strategies {
		e := s.PeerEffects
		if e == nil {
			continue
		}
		fmt.Fprintf(w, "\n%s: peers' shares improved the predictions of %d agents, worsened those of %d, and made no difference to %d",
			s.Strategy, e.Improved, e.Worsened, e.NoDifference)
		if e.TooFew > 0 {
			fmt.Fprintf(w, " (%d with too few results)", e.TooFew)
		}
		fmt.Fprintf(w, ".\nThe regret of %d agents was lower than with %s; of the %d improved or worsened agents, %d agree.\n",
			e.LowerRegret, r.Reference, e.Improved+e.Worsened, e.Agreeing)
	}
}
