package strategy

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Exchange is one conversation between the agents of a task: anything from
// "here is my latest draw" to a protocol of several rounds. It is a state
// machine that never sees a transport. Its name is also the kind of its shares.
type Exchange interface {
	Name() string

	// Decode checks a share's payload against the task and returns what View
	// shows of it, perhaps a Slotted. An error means that no honest agent of the task
	// sends it, and so does a panic. The agent calls it, like Step, from one goroutine.
	Decode(payload []byte) (any, error)

	// Step takes one input and says what shall happen. It must not take long. An
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
	// TrialsEnded says that trials have ended, with an outcome or without: one, or many that
	// were imported together. The view shows them.
	TrialsEnded struct{}
	// Received says that a peer's new share of this kind is in the view. A renewal
	// with the same payload, before the old one expires, is not reported.
	Received struct{ Share Share }
	// Direct is what a peer sent to this agent alone.
	Direct struct {
		From peer.ID
		Data []byte
	}
	// Timer says that a SetTimer has run out.
	Timer struct{ Name string }
	// CaughtUp says that a peer has told all shares that it holds, the agent's own
	// among them.
	CaughtUp struct{ Peer peer.ID }
	// Echo is a share of the agent's own that a peer tells: perhaps one that the
	// journal does not know, being lost or restored from a backup.
	// Where releases are counted, its value may be the protocol.Receipt of them that a
	// peer holds.
	Echo struct{ Share Share }
	// EquivocationFound says that the agent's key has signed what no agent with one whole
	// journal signs: its data directory was copied or restored from a backup.
	EquivocationFound struct{ Proof protocol.EquivocationProof }
	// WorkDone returns what a Work gave.
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
// anything else of it is carried out.
type Output interface{ output() }

type (
	// Record keeps a fact over restarts.
	Record struct{ Data []byte }
	// Publish tells all agents. The exact signed bytes are journaled first and
	// are what a restarted node sends again; not so an ephemeral share, which
	// is too frequent to keep and worthless after a restart.
	Publish struct {
		Slot      uint64 // SlotOf the decoded payload; others refuse any other
		Payload   []byte
		TTL       time.Duration
		Ephemeral bool
	}
	// Receipt tells all agents how far this agent's account of private releases has
	// come, an encoded protocol.Receipt. They keep it for good, and tell it to the
	// agent. Until an agent has told it in a run, it withholds its own shares: who tells
	// one before has it of an earlier run.
	Receipt struct{ Payload []byte }
	// Send tells one agent. Delivery is not promised.
	Send struct {
		To   peer.ID
		Data []byte
	}
	// SetTimer replaces the timer of this name.
	SetTimer struct {
		Name  string
		After time.Duration
	}
	// Work is a computation that takes long. It runs beside the agent, as soon
	// as the posterior has caught up with all observations, on a view of that
	// moment; its result comes back as WorkDone. When ctx ends it should return
	// soon, and its result is dropped. A panic of it is its Err.
	Work struct {
		Name string
		Run  func(ctx context.Context, view View, seed Seed) (any, error)
	}
	// Warn tells the user.
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
