package node

import (
	"github.com/ipfs/go-cid"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/clientsession"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node/internal/wire"
	"github.com/fbo-node/fbo/strategy"
)

// Types of sessions, for programs that embed a node.
type (
	// Trial is one evaluation of one design.
	Trial = strategy.Trial
	// Outcome is what an evaluation measured.
	Outcome = strategy.Outcome
	// State is the state of a trial.
	State = strategy.State
	// Event is an event of a session, for the user.
	Event = agent.Event
	// EventType is the type of an event.
	EventType = agent.EventType
	// Past is an evaluation that was made before or elsewhere.
	Past = agent.Past
	// Recommendation is the design that the node's model supports best.
	Recommendation = agent.Recommendation
	// History is what a journal contains of one task.
	History = agent.History
	// Stopped is why a run has ended by RunOptions.StopRegret.
	Stopped = agent.Stopped
	// Learned is what the model of the objective has learned from.
	Learned = agent.Learned
	// Author is a peer of which the node holds shares.
	Author = agent.Author
	// ClientSession is a session for clients outside of the process.
	ClientSession = clientsession.Session
	// TaskMismatch is a connected peer's task of the same name as the session's and with another ID: the
	// fields are Peer, Task (the ID), and Open, if it is the session's task, which the session joined by
	// invitation and the peer without.
	TaskMismatch = wire.TaskMismatch
	// Invitation is the secret by which nodes join a closed task.
	Invitation = invitation.Invitation
)

// States of a trial.
const (
	Waiting State = strategy.Waiting
	Running State = strategy.Running
	Done    State = strategy.Done
	Failed  State = strategy.Failed
)

// Types of events.
const (
	TrialStarted  EventType = agent.TrialStarted
	TrialFinished EventType = agent.TrialFinished // done or failed
	ShareSent     EventType = agent.ShareSent
	ShareReceived EventType = agent.ShareReceived
	LeaseEnded    EventType = agent.LeaseEnded // a client sent no request; its trial waits for another one
	WaitEnded     EventType = agent.WaitEnded  // the wait of the first design for peers has ended
	Warning       EventType = agent.Warning

	DesignEnqueued  EventType = agent.DesignEnqueued
	DesignWithdrawn EventType = agent.DesignWithdrawn
	TrialNoted      EventType = agent.TrialNoted // the user has set or removed the note on a trial
)

// Errors about trials and asking; when one is returned, nothing has changed.
var (
	ErrUnknownTrial = agent.ErrUnknownTrial
	ErrFinished     = agent.ErrFinished
	ErrBadOutcome   = agent.ErrBadOutcome
	ErrKeeping      = agent.ErrKeeping
)

// NewInvitation returns an invitation to the task with this ID, with a secret of its own.
func NewInvitation(task cid.Cid) Invitation { return invitation.New(task) }

// ReadInvitation reads an invitation from a file. Only its owner may read the file: a node with the
// invitation can join.
func ReadInvitation(path string) (Invitation, error) { return store.ReadInvitation(path) }

// ParseInvitation reads the text of an invitation, with white space around it. Errors do not
// quote the text, which may contain most of a secret.
func ParseInvitation(text string) (Invitation, error) { return invitation.Parse(text) }
