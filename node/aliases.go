package node

import (
	"github.com/ipfs/go-cid"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/clientsession"
	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node/internal/wire"
	"github.com/fbo-node/fbo/strategy"
)

// The types that a program uses with sessions. They are aliases, so that a program imports only
// package node.
type (
	// Trial is one evaluation of one design.
	Trial = strategy.Trial
	// Outcome holds the values that an evaluation measured.
	Outcome = strategy.Outcome
	// State is the state of a trial.
	State = strategy.State
	// Event is an event of a session, for the user.
	Event = agent.Event
	// EventType is the type of an event.
	EventType = agent.EventType
	// Past is an evaluation that was made before this task or by another program, for
	// Session.Import.
	Past = agent.Past
	// Step is the value of the objective at a step of an evaluation.
	Step = strategy.Step
	// Stop is the decision to stop an evaluation early.
	Stop = strategy.EarlyStop
	// Recommendation is the design that the node's model recommends, with its prediction.
	Recommendation = agent.Recommendation
	// History is the content of a journal for one task.
	History = agent.History
	// Stopped is the reason for which RunOptions.StopRegret ended a run.
	Stopped = agent.Stopped
	// Progress is how much of its budget a run has used. Spending is what its evaluations have cost.
	Progress = agent.Progress
	Spending = strategy.Spending
	// LargeStatus counts the shares that a session fetches in a large topic.
	LargeStatus = agent.LargeStatus

	// Learned describes the observations and shares that the objective's model was fitted to.
	Learned = agent.Learned
	// Author is a peer whose shares the node stores.
	Author = agent.Author
	// ClientSession is a session for clients in other processes.
	ClientSession = clientsession.Session
	// TaskMismatch describes a connected peer on a task with the name of the session's task and
	// another ID. Its fields are Peer, Task (the ID) and Open. Open is true if both IDs are equal,
	// but this session joined by invitation and the peer did not.
	TaskMismatch = wire.TaskMismatch
	// Invitation is the secret by which nodes join a closed task.
	Invitation = invitation.Invitation
)

// States of a trial.
const (
	Waiting      State = strategy.Waiting
	Running      State = strategy.Running
	Done         State = strategy.Done
	Failed       State = strategy.Failed
	StoppedEarly State = strategy.StoppedEarly
)

// Types of events.
const (
	TrialStarted  EventType = agent.TrialStarted
	TrialReported EventType = agent.TrialReported // values by step; Event.Trial.Steps has the new ones only
	TrialFinished EventType = agent.TrialFinished // done, failed or stopped early
	ShareSent     EventType = agent.ShareSent
	ShareReceived EventType = agent.ShareReceived
	LeaseEnded    EventType = agent.LeaseEnded // a client's lease expired; another client can get the trial
	WaitEnded     EventType = agent.WaitEnded  // the first design no longer waits for peers
	Warning       EventType = agent.Warning

	DesignEnqueued  EventType = agent.DesignEnqueued
	DesignWithdrawn EventType = agent.DesignWithdrawn
	TrialAnnotated  EventType = agent.TrialAnnotated // the annotations of a trial have changed
)

// Errors of the methods that change trials or ask for them. A call that returns one has changed
// nothing.
var (
	ErrUnknownTrial = agent.ErrUnknownTrial
	ErrFinished     = agent.ErrFinished
	ErrBadOutcome   = agent.ErrBadOutcome
	ErrKeeping      = agent.ErrKeeping
	ErrNoSteps      = agent.ErrNoSteps

	ErrBadAnnotation = strategy.ErrBadAnnotation
	ErrBadStep       = curves.ErrBadStep
	ErrBadCost       = strategy.ErrBadCost
)

// NewInvitation returns an invitation to the task with this ID, with a new random secret.
func NewInvitation(task cid.Cid) Invitation { return invitation.New(task) }

// ReadInvitation reads an invitation from a file. The file must be readable by its owner only,
// since any node with the invitation can join the task.
func ReadInvitation(path string) (Invitation, error) { return store.ReadInvitation(path) }

// ParseInvitation parses the text of an invitation and ignores white space around it. Errors do not
// quote the text, which may contain most of a secret.
func ParseInvitation(text string) (Invitation, error) { return invitation.Parse(text) }
