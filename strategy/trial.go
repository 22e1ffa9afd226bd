package strategy

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// State is where a trial stands.
type State string

// A trial is waiting after its node stopped while it ran; it is offered again.
const (
	Waiting State = "waiting"
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
)

// Outcome is what an evaluation measured, in the task's own units. All numbers
// are finite.
type Outcome struct {
	Value       float64            `json:"value"`
	Constraints map[string]float64 `json:"constraints,omitempty"` // further outputs by name, which a task may bound
	Metrics     map[string]float64 `json:"metrics,omitempty"`     // further numbers, for people; at most MaxMetrics, named as IsMetricName accepts
}

// Bounds of an outcome's metrics.
const (
	MaxMetrics    = 64
	MaxMetricName = 64 // bytes
)

// IsMetricName tells whether a metric may have this name: 1 to MaxMetricName bytes
// of printable text.
func IsMetricName(name string) bool {
	return name != "" && len(name) <= MaxMetricName && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Trial is one evaluation of one design.
type Trial struct {
	ID       uint64      `json:"id"` // 1, 2, … per node and task
	Design   task.Design `json:"parameters"`
	Why      Why         `json:"why"`
	State    State       `json:"state"`
	Attempts int         `json:"attempts"`
	Started  time.Time   `json:"started,omitzero"`
	Finished time.Time   `json:"finished,omitzero"`
	Outcome  *Outcome    `json:"outcome,omitempty"` // when done
	Reason   string      `json:"reason,omitempty"`  // when failed
}

// Source names what a design came from.
type Source string

// Sources of a design.
const (
	First     Source = "first"     // to be evaluated first, as the user says
	Initial   Source = "initial"   // random, before the surrogate knows anything
	Own       Source = "own"       // maximises a sample of the agent's own posterior
	Peer      Source = "peer"      // maximises the sample in a peer's share
	Peers     Source = "peers"     // maximises a sample of a posterior whose prior mean is made of peers' shares
	Sum       Source = "sum"       // rests on private sums of peers' weights
	Improve   Source = "improve"   // maximises the expected improvement by the agent's own posterior
	Bound     Source = "bound"     // maximises the upper confidence bound of the agent's own posterior
	Agreed    Source = "agreed"    // a weighted average of the agent's and its peers' candidates
	Designs   Source = "designs"   // expected improvement, given that peers' designs are good
	Density   Source = "density"   // expected improvement, weighed by where peers believe the optimum to be
	Remaining Source = "remaining" // random, since nearly all designs of the space have been tried
	Random    Source = "random"    // random, because the maximiser had been tried before; only in journals of earlier versions
	Imported  Source = "imported"  // told by the user
)

// Why says how a design was chosen. A share named here is used up.
type Why struct {
	Source         Source          `json:"source"`
	OwnProbability float64         `json:"own_probability,omitempty"` // the chance that the own sample had, when it was a choice
	Peer           peer.ID         `json:"peer,omitempty"`
	Stamp          *protocol.Stamp `json:"stamp,omitempty"`        // which of the peer's shares
	Observations   int             `json:"observations,omitempty"` // that the peer's share, or those of all peers listened to, rested on
	Listened       int             `json:"listened,omitempty"`     // to how many peers
	Round          int             `json:"round,omitempty"`        // of the consensus
	NextBest       uint64          `json:"next_best,omitempty"`    // the trial that had the maximiser already, or ran or failed near it
	Again          uint64          `json:"again,omitempty"`        // the trial that had the same design already
}

// AddObservations adds what a peer's share rests on to a Why's Observations. Peers
// may claim any number; the sum stops at the largest that every int holds.
func AddObservations(sum, claimed int) int { return min(sum, math.MaxInt32-claimed) + claimed }

// FromPeers tells whether the design rests on what peers shared.
func (w Why) FromPeers() bool {
	switch w.Source {
	case Peer, Peers, Sum:
		return true
	case Agreed, Designs, Density:
		return w.Listened > 0
	}
	return false
}

// String is a short phrase for people.
func (w Why) String() string {
	switch {
	case w.NextBest > 0:
		return fmt.Sprintf("%s, next best after trial %d", w.origin(), w.NextBest)
	case w.Again > 0:
		return fmt.Sprintf("%s, trial %d again", w.origin(), w.Again)
	}
	return w.origin()
}

func (w Why) origin() string {
	switch w.Source {
	case First:
		return "given by the user"
	case Initial:
		return "random start"
	case Own:
		return "own sample"
	case Peer:
		return fmt.Sprintf("sample from peer %s (its %d observations)", ShortID(w.Peer), w.Observations)
	case Peers:
		return fmt.Sprintf("sample around the mean of %s", count(w.Listened, "peer"))
	case Sum:
		return fmt.Sprintf("sample around the private sum of %s", count(w.Listened, "node"))
	case Improve:
		return "expected improvement"
	case Bound:
		return "upper confidence bound"
	case Agreed:
		if w.Round == 0 {
			return fmt.Sprintf("average with the latest candidates of %s", count(w.Listened, "peer"))
		}
		return fmt.Sprintf("average with the candidates of %s in round %d", count(w.Listened, "peer"), w.Round)
	case Designs:
		if w.Listened == 0 {
			return "expected improvement, given the suggested designs"
		}
		return fmt.Sprintf("expected improvement, given the designs of %s", count(w.Listened, "peer"))
	case Density:
		if w.Listened == 0 {
			return "expected improvement, weighed by the suggested designs"
		}
		return fmt.Sprintf("expected improvement, weighed by the densities of %s", count(w.Listened, "peer"))
	case Remaining:
		return "random, since nearly all designs have been tried"
	case Random:
		if w.Peer != "" {
			return fmt.Sprintf("random, since the sample from peer %s led to a design already tried", ShortID(w.Peer))
		}
		return "random, since the own model led to a design already tried"
	case Imported:
		return "imported"
	}
	return string(w.Source)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// ShortID is the end of a peer ID, which tells peers apart at a glance.
func ShortID(id peer.ID) string {
	s := id.String()
	return s[max(0, len(s)-8):]
}
