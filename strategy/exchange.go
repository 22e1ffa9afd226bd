package strategy

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Exchange is one protocol between the agents of a task, from publishing the latest draw to
// several rounds of messages. It is a state machine without access to a transport. Its name is
// also the kind of its shares.
type Exchange interface {
	Name() string

	// Decode checks a share's payload against the task and returns its value in View, perhaps
	// a Slotted. An error or a panic means that no honest agent of the task sends it. The agent
	// calls Decode and Step from one goroutine.
	Decode(payload []byte) (any, error)

	// Step takes one input and returns what the agent must do. It must not take long. An
	// exchange whose Step panics gets no further input until the next start.
	Step(view View, in Input) []Output
}

// Input is one of the types below.
type Input interface{ input() }

type (
	// Start comes once, after every Replayed.
	Start struct{}
	// Replayed returns a Record of an earlier run, in order.
	Replayed struct{ Data []byte }
	// TrialsEnded reports that trials have ended, with an outcome or without: one, or many that
	// were imported together. The view contains them.
	TrialsEnded struct{}
	// Received reports that a peer's new share of this kind is in the view. A renewal
	// with the same payload, before the old one expires, is not reported.
	Received struct{ Share Share }
	// Direct is what a peer sent to this agent alone.
	Direct struct {
		From peer.ID
		Data []byte
	}
	// Timer reports that a SetTimer has expired.
	Timer struct{ Name string }
	// CaughtUp reports that a peer has sent all shares that it holds, the agent's own
	// among them.
	CaughtUp struct{ Peer peer.ID }
	// Echo is one of the agent's own shares, received from a peer. The journal may lack it if
	// the journal was lost or restored from a backup.
	// If the agent counts DP releases, the value may be the protocol.Receipt that a peer holds.
	Echo struct{ Share Share }
	// EquivocationFound reports that the agent's key has signed two shares that no agent with one
	// complete journal signs: its data directory was copied or restored from a backup.
	EquivocationFound struct{ Proof protocol.EquivocationProof }
	// WorkDone returns the result of a Work.
	WorkDone struct {
		Name   string
		Result any
		Err    error
	}
	// Stop comes before a clean end.
	Stop struct{}
)

func (Start) input()             {}
func (Replayed) input()          {}
func (TrialsEnded) input()       {}
func (Received) input()          {}
func (Direct) input()            {}
func (Timer) input()             {}
func (CaughtUp) input()          {}
func (Echo) input()              {}
func (EquivocationFound) input() {}
func (WorkDone) input()          {}
func (Stop) input()              {}

// Output is one of the types below. The records of a step are on disk before
// the agent carries out its other outputs.
type Output interface{ output() }

type (
	// Record keeps a fact over restarts.
	Record struct{ Data []byte }
	// Publish sends a share to all agents. The agent journals the exact signed bytes first, and
	// a restarted node sends the same bytes again. Ephemeral shares are not journaled: they are
	// too frequent to keep and worthless after a restart.
	Publish struct {
		Slot      uint64 // SlotOf the decoded payload; peers reject any other
		Payload   []byte
		TTL       time.Duration
		Ephemeral bool
	}
	// Receipt publishes this agent's list of DP releases, an encoded protocol.Receipt. Peers
	// store it permanently and send it back to the agent. The agent withholds its own shares
	// until it has published the receipt in this run. A receipt that a peer sends back before
	// that is from an earlier run.
	Receipt struct{ Payload []byte }
	// Send sends a direct message to one agent. Delivery is not guaranteed.
	Send struct {
		To   peer.ID
		Data []byte
	}
	// SetTimer replaces the timer of this name.
	SetTimer struct {
		Name  string
		After time.Duration
	}
	// Work is a long computation. It runs concurrently with the agent, on a view from the
	// moment at which the posterior includes all observations. Its result returns as WorkDone.
	// When ctx ends, it should return soon, and its result is dropped. A panic becomes its Err.
	Work struct {
		Name string
		Run  func(ctx context.Context, view View, seed Seed) (any, error)
	}
	// Warn shows a warning to the user.
	Warn struct{ Message string }
	// Result enters the view under the exchange's name.
	Result struct{ Value any }
)

func (Record) output()   {}
func (Publish) output()  {}
func (Receipt) output()  {}
func (Send) output()     {}
func (SetTimer) output() {}
func (Work) output()     {}
func (Warn) output()     {}
func (Result) output()   {}
