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

// A trial is Waiting if its node stopped during the evaluation. The agent offers its design for
// evaluation again.
const (
	Waiting      State = "waiting"
	Running      State = "running"
	Done         State = "done"
	Failed       State = "failed"
	StoppedEarly State = "stopped" // ended early, with values by step and without an outcome
)

// Ended reports whether a trial in this state has ended.
func (s State) Ended() bool { return s == Done || s == Failed || s == StoppedEarly }

// Outcome holds the values that an evaluation measured, in the task's own units. All numbers are
// finite.
type Outcome struct {
	Value       float64                 `json:"value"`
	Constraints map[string]task.Reading `json:"constraints,omitempty"` // by name: the constraints of the task, or arbitrary readings if the task has no constraints
	Metrics     map[string]float64      `json:"metrics,omitempty"`     // further numbers for display, at most MaxMetrics, with names that IsMetricName accepts

	// Cost becomes that of the trial when the outcome is reported ([Trial.Cost]), and Annotations are
	// added to those of the trial. A stored outcome has neither. An evaluator may return them together
	// with an error.
	Cost        *float64    `json:"-"`
	Annotations Annotations `json:"-"`
}

// MaxMetrics and MaxMetricName limit the metrics of one outcome.
const (
	MaxMetrics    = 64
	MaxMetricName = 64 // bytes
)

// IsMetricName reports whether name is valid for a metric: 1 to MaxMetricName bytes of printable
// text.
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
	Client   string      `json:"client,omitempty"` // client process that evaluates or evaluated the design; empty for the node's own process
	Started  time.Time   `json:"started,omitzero"`
	Finished time.Time   `json:"finished,omitzero"`
	Outcome  *Outcome    `json:"outcome,omitempty"` // nil unless State is Done
	Reason   string      `json:"reason,omitempty"`  // why the trial failed; empty unless State is Failed

	// PeerGain is the improvement of the outcome's prediction by peers' shares, in nats
	// ([Forecast.Gain]). It is nil if the suggestion had no Forecast, or if the node restarted
	// during the evaluation.
	PeerGain *float64 `json:"peer_gain,omitempty"`

	// Steps are the values that the evaluation has reported by step. Peers never receive them.
	Steps Curve `json:"steps,omitempty"`
	// Stop is the decision to stop the evaluation early; nil if there is none. The trial is Running
	// until its evaluation has ended. It is Done if the evaluation came to its end nevertheless.
	Stop *EarlyStop `json:"stop,omitempty"`

	// Cost is the largest cost that the evaluation has reported, in a unit of the user's, such as
	// seconds; nil if it is unknown. Peers never receive it.
	Cost *float64 `json:"cost,omitempty"`

	// Annotations are texts, tags, files and notes of the user. Peers never receive them.
	Annotations

	// Violated names the constraints of the task that the outcome violates. It is empty if the
	// outcome is feasible.
	Violated []task.Output `json:"violated,omitempty"`
}

// maxReason is the maximum number of characters of a reason that String shows.
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
	if t.Stop != nil && t.State != Done {
		text += ": stop at " + sanitize.Text(t.Stop.Reason, maxReason)
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

// LastChange returns the latest time at which one of the trials started or ended. Without trials it
// returns the zero time.
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
