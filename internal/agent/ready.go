package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// Ready holds the outputs of an agent. The driver must carry them out in the order of the fields.
type Ready struct {
	Records    []Record         // 1. write to the journal, and sync
	Publish    []protocol.Share // 2. send to all peers
	Send       []Direct         // 3. send to one peer each
	Fetch      []peer.ID        // 4. request the shares of these authors (RequestOf), from them or from others
	Answers    []Answer         // 5. return to the callers of Ask
	Work       []Work           // 6. run outside the agent, then call Done
	Events     []Event          // 7. show to the user
	PeerShares bool             // 8. the result of PeerShares has changed; store it when idle
	Wake       time.Time        // 9. call Tick at this time; zero: never
}

// Direct is a direct message of an exchange.
type Direct struct {
	To       peer.ID
	Exchange string
	Data     []byte
}

// Answer is the result of an Ask.
type Answer struct {
	Request uint64
	Trial   strategy.Trial
	Err     error
}

// Work is a computation on immutable data. Run may be called from any goroutine; its result must be
// passed to Done with the same ID. It returns soon after ctx ends, unless a strategy, exchange or
// surrogate ignores ctx. It never panics.
type Work struct {
	ID   uint64
	Name string // description for a log
	Run  func(ctx context.Context) any
}

// EventType is the type of an event.
type EventType string

// Events.
const (
	TrialStarted  EventType = "trial_started"
	TrialReported EventType = "trial_reported" // values by step; Trial.Steps has the new ones only
	TrialFinished EventType = "trial_finished" // with or without an outcome
	ShareSent     EventType = "share_sent"
	ShareReceived EventType = "share_received"
	LeaseEnded    EventType = "lease_ended" // a client's lease has expired; another client can get the trial
	WaitEnded     EventType = "wait_ended"  // the first design no longer waits for peers
	Warning       EventType = "warning"

	DesignEnqueued  EventType = "design_enqueued"
	DesignWithdrawn EventType = "design_withdrawn"
	TrialAnnotated  EventType = "trial_annotated" // the annotations of a trial have changed
)

// Event is an event to display.
type Event struct {
	Type           EventType       `json:"event"`
	Trial          *strategy.Trial `json:"trial,omitempty"`
	Best           *strategy.Trial `json:"best,omitempty"`            // with trial_finished: the best trial so far, if any
	LeastViolation *strategy.Trial `json:"least_violation,omitempty"` // with trial_finished, while no trial is feasible: the trial with the smallest violation
	Better         bool            `json:"improved,omitempty"`        // with trial_finished: this trial has become Best or, with several objectives, is on the Pareto front
	Peer           peer.ID         `json:"peer,omitempty"`
	Kind           string          `json:"kind,omitempty"`
	Stamp          *protocol.Stamp `json:"stamp,omitempty"` // stamp of the share
	Bytes          int             `json:"bytes,omitempty"`
	Message        string          `json:"message,omitempty"`
	Stack          string          `json:"-"`                 // with warning: of the panic that caused it, for the log
	Queued         *Queued         `json:"queued,omitempty"`  // with design_enqueued and design_withdrawn
	Seconds        float64         `json:"seconds,omitempty"` // with wait_ended: duration of the wait
	Authors        int             `json:"authors,omitempty"` // with wait_ended: number of authors of stored shares
}

// maxMessage is the maximum number of characters of a message or kind in the result of String.
const maxMessage = 500

// String returns one line with the event and its trial or share.
func (e Event) String() string {
	text := strings.ReplaceAll(string(e.Type), "_", " ")
	if e.Trial != nil {
		text += ": " + e.Trial.String()
	}
	switch e.Type {
	case TrialFinished:
		switch {
		case e.Better:
			text += ", the new best"
		case e.Best != nil:
			text += fmt.Sprintf(", best %.6g of trial %d", e.Best.Outcome.Value, e.Best.ID)
		default:
			text += ", no feasible trial yet"
		}
	case ShareSent, ShareReceived:
		text += fmt.Sprintf(": %s, %d bytes", sanitize.Text(e.Kind, maxMessage), e.Bytes)
		if e.Peer != "" {
			text += ", of peer " + strategy.ShortID(e.Peer)
		}
	case WaitEnded:
		text += fmt.Sprintf(" %v for peers: shares of %s", seconds(e.Seconds), sanitize.Count(e.Authors, "node"))
	case DesignEnqueued, DesignWithdrawn:
		text += ": " + e.Queued.Design.String()
	case Warning:
		text += ": " + sanitize.Text(e.Message, maxMessage)
	}
	return text
}

func seconds(n float64) time.Duration {
	return time.Duration(n * float64(time.Second)).Round(time.Millisecond)
}
