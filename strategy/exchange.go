package strategy

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Exchange is one protocol between the agents of a task, and one agent's state in it. Simple
// exchanges publish one share and replace it from time to time. Others need several rounds of
// messages. An Exchange is a state machine without access to clocks or the network: the agent
// passes it inputs and carries out its outputs.
type Exchange interface {
	Name() string

	// Decode checks the payload of a share against the task. It returns the decoded value, which
	// the agent stores as [Share].Value in the view. The value may be a [Slotted]. Decode must
	// accept every payload that an honest agent of the task publishes: the agent counts an error or
	// a panic as a violation by the share's author. The agent calls Decode and Step from one
	// goroutine.
	Decode(payload []byte) (any, error)

	// Step handles one input and returns the outputs that the agent must carry out. It must return
	// quickly: long computations are outputs of type [Work]. An exchange whose Step panics receives
	// no further input until the node starts again.
	Step(view View, in Input) []Output
}

// Announceable is an optional interface of an Exchange. MayAnnounce reports whether agents lose little
// if each reads the shares of some agents only. In a large topic an agent then announces its shares of
// this exchange in place of gossiping them ([View].Large). It is not for exchanges
// in which every agent needs the shares of all, such as rounds, sums and private releases.
type Announceable interface {
	MayAnnounce() bool
}

// Input is an event that the agent passes to Exchange.Step. The types below implement it.
type Input interface{ input() }

type (
	// Start is the first input after all Replayed inputs. It comes once in each run of the node.
	Start struct{}
	// Replayed contains the data of one [Record] that the exchange wrote in an earlier run. Records
	// are replayed in the order in which they were written, before Start.
	Replayed struct{ Data []byte }
	// TrialsEnded reports that at least one trial has ended, with or without an outcome. An import
	// ends many trials at once. The view already contains them.
	TrialsEnded struct{}
	// Received reports that the view contains a new share of a peer, of this exchange's kind. A
	// peer renews a share by sending the same payload before the old share expires. Renewals are
	// not reported.
	Received struct{ Share Share }
	// Direct is a direct message from a peer to this agent.
	Direct struct {
		From peer.ID
		Data []byte
	}
	// Timer reports that the timer which a [SetTimer] of this name started has expired.
	Timer struct{ Name string }
	// CaughtUp reports that a peer has sent all shares that it stores and that this agent lacked,
	// including shares that this agent published in earlier runs.
	CaughtUp struct{ Peer peer.ID }
	// Echo contains one of this agent's own shares, received from a peer. The journal may lack it
	// if the journal was lost or restored from a backup. On tasks that count DP releases,
	// Share.Value may instead be the protocol.Receipt of this agent that the peer stores.
	Echo struct{ Share Share }
	// EquivocationFound reports a proof that two contradictory shares were signed with this agent's
	// key. One agent with a complete journal never signs such shares. So its data directory was
	// copied, or restored from a backup.
	EquivocationFound struct{ Proof protocol.EquivocationProof }
	// WorkDone returns the result of the [Work] of this name.
	WorkDone struct {
		Name   string
		Result any
		Err    error
	}
	// Stop is the last input before the node ends regularly. It does not come if the process is
	// killed.
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

// Output is an action that an exchange asks its agent to carry out. The types below implement it.
// The agent writes all records of a step to disk before it carries out the other outputs of that
// step.
type Output interface{ output() }

type (
	// Record stores data in the journal. After a restart the exchange receives them as [Replayed].
	Record struct{ Data []byte }
	// Publish sends a share to all agents of the task. The agent first writes the signed bytes to
	// the journal. A restarted node sends exactly these bytes again. Ephemeral shares are not
	// written to the journal, since they are frequent and worthless after a restart.
	Publish struct {
		Slot      uint64 // must equal SlotOf of the decoded payload; peers reject other slots
		Payload   []byte
		TTL       time.Duration
		Ephemeral bool
	}
	// Receipt publishes the list of this agent's DP releases, an encoded protocol.Receipt. A
	// receipt never expires, but a peer that stores the receipts of many authors may evict old
	// ones. Peers send a receipt back to its author, whose journal may have lost releases.
	//
	// On a task with a privacy budget the agent does not send own shares from earlier runs until it
	// has published its receipt in this run. Shares with a TTL below an hour are exempt, since
	// nodes do not keep them on disk. An [Echo] that arrives before that contains a receipt of an
	// earlier run. The journal does not store receipts.
	Receipt struct{ Payload []byte }
	// Send sends a direct message to one agent. Delivery is not guaranteed.
	Send struct {
		To   peer.ID
		Data []byte
	}
	// SetTimer starts the timer with this name, and replaces a running one. When it expires, the
	// exchange receives a [Timer].
	SetTimer struct {
		Name  string
		After time.Duration
	}
	// Work runs a long computation concurrently with the agent. Run receives a view whose posterior
	// includes all observations. Its result comes back as [WorkDone]. When ctx ends, Run should
	// return soon, and its result is dropped. A panic in Run becomes WorkDone.Err.
	Work struct {
		Name string
		Run  func(ctx context.Context, view View, seed Seed) (any, error)
	}
	// Warn shows a warning to the user.
	Warn struct{ Message string }
	// Result sets View.Results for the name of this exchange.
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
