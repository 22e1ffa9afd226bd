package node

import (
	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/strategy"
)

// What a session speaks of, under one roof for those who embed a node.
type (
	// Trial is one evaluation of one design.
	Trial = strategy.Trial
	// Outcome is what an evaluation measured.
	Outcome = strategy.Outcome
	// State is where a trial stands.
	State = strategy.State
	// Event is something worth showing.
	Event = agent.Event
	// Past is an evaluation that was made before or elsewhere.
	Past = agent.Past
)

// States of a trial.
const (
	Waiting = strategy.Waiting
	Running = strategy.Running
	Done    = strategy.Done
	Failed  = strategy.Failed
)

// Errors about trials and asking; when one is returned, nothing has changed.
var (
	ErrUnknownTrial = agent.ErrUnknownTrial
	ErrFinished     = agent.ErrFinished
	ErrBadOutcome   = agent.ErrBadOutcome
	ErrKeeping      = agent.ErrKeeping
)
