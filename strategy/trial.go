package strategy

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// State is the state of a trial.
type State string

// A trial is waiting if its node stopped while it ran; the agent offers it again.
const (
	Waiting State = "waiting"
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
)

// Outcome is what an evaluation measured, in the task's own units. All numbers
// are finite.
type Outcome struct {
	Value       float64                 `json:"value"`
	Constraints map[string]task.Reading `json:"constraints,omitempty"` // by name: those of the task, or any where it has none
	Metrics     map[string]float64      `json:"metrics,omitempty"`     // further numbers, for people; at most MaxMetrics, named as IsMetricName accepts
}

// Bounds of an outcome's metrics.
const (
	MaxMetrics    = 64
	MaxMetricName = 64 // bytes
)

// IsMetricName reports whether a metric may have this name: 1 to MaxMetricName bytes
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
	Client   string      `json:"client,omitempty"` // the client outside the node's process that evaluates or evaluated it
	Started  time.Time   `json:"started,omitzero"`
	Finished time.Time   `json:"finished,omitzero"`
	Outcome  *Outcome    `json:"outcome,omitempty"` // when done
	Reason   string      `json:"reason,omitempty"`  // when failed

	// PeerGain is by how much peers' shares improved the prediction of the outcome's value, in nats
	// ([Forecast.Gain]). It is nil without a Forecast, also if the node restarted during the evaluation.
	PeerGain *float64 `json:"peer_gain,omitempty"`

	// Note is a text of the user about the trial. Peers never receive it.
	Note string `json:"note,omitempty"`

	// Violated names the constraints of the task that the outcome violates. It is empty if the
	// outcome is feasible.
	Violated []task.Output `json:"violated,omitempty"`
}

// maxReason is how many characters of a reason String shows.
const maxReason = 200

// String returns one line: ID, state, outcome or reason, design, and why it was chosen.
func (t Trial) String() string {
	text := fmt.Sprintf("trial %d %s: ", t.ID, t.State)
	if t.Outcome != nil {
		text += fmt.Sprintf("%.6g at ", t.Outcome.Value)
	}
	text += t.Design.String()
	if len(t.Violated) > 0 {
		broken := make([]string, len(t.Violated))
		for i, output := range t.Violated {
			broken[i] = string(output)
		}
		text += ", infeasible: " + strings.Join(broken, ", ")
	}
	if t.Reason != "" {
		text += ": " + sanitize.Text(t.Reason, maxReason)
	}
	if why := t.Why.String(); why != "" {
		text += " [" + why + "]"
	}
	return text
}

// ShortID returns the last 8 characters of a peer ID, which suffice to distinguish peers in
// displays.
func ShortID(id peer.ID) string {
	s := id.String()
	return s[max(0, len(s)-8):]
}

// LastChange returns when one of the trials started or ended last; the zero time without trials.
func LastChange(trials []Trial) (last time.Time) {
	for _, trial := range trials {
		for _, at := range []time.Time{trial.Started, trial.Finished} {
			if at.After(last) {
				last = at
			}
		}
	}
	return last
}
