package strategy

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/task"
)

// View is what an agent knows at one moment. It is a snapshot: nobody changes
// it, and whoever receives it must not either.
type View struct {
	Task            *task.Task
	Self            peer.ID
	Trials          []Trial        // own, in order of ID, but for those set aside
	SetAside        int            // own trials before these, which failed in earlier runs before any had an outcome
	Observations    int            // how many of them have an outcome
	Posterior       Posterior      // of the objective, nil until there is an observation
	Shares          []*Share       // of peers, valid now, in order of author, kind and slot
	Results         map[string]any // the latest Result of each exchange, by its name
	MaxObservations int            // observations that an exact model learns from at most; 0: DefaultMaxObservations
	PriorDesigns    []task.Design  // that the user expects to be near-optimal

	// Constraints are the posteriors of the task's constraints, in the order of
	// Task.Bounds, but for those without an observation.
	Constraints []*Constraint

	// Completion is the posterior of whether an evaluation completes, where failures are
	// learned (task.LearnFailures) and depend on the design; nil otherwise.
	Completion *Constraint

	// Waited names the exchange that the strategy has waited for in vain. It is empty
	// unless a Wait of this trial has ended without a Result; then the strategy must
	// choose without, since a further Wait is an error.
	Waited string
}

// Strategy chooses designs.
type Strategy interface {
	// Suggest chooses the design of a trial, by its number: its ID, less View.SetAside. The same view,
	// trial and seed give the same answer; asking changes nothing. It may take
	// long and runs beside the agent. When ctx ends it should return soon, with the
	// error of ctx. Where it fails or panics, the agent asks it again with a view of
	// nobody else, in which it may not wait.
	Suggest(ctx context.Context, view View, trial uint64, seed Seed) (Suggestion, error)
}

// Recommender is what a Strategy may be too, when the design that it would
// recommend to use is not the best supported one by the agent's own posterior.
type Recommender interface {
	// Recommend returns the zero design while it knows too little, and when ctx ends
	// before it does. It may take as long as Suggest.
	Recommend(ctx context.Context, view View, seed Seed) task.Design
}

// SharesFromStart is an optional interface of a Strategy whose first design can already use peers'
// shares, so that an agent benefits from receiving shares before it asks.
type SharesFromStart interface {
	UsesSharesFromStart() bool
}

// Suggestion is a design and why, or a wish to wait.
type Suggestion struct {
	Design task.Design
	Why    Why

	// Wait, when its Exchange is not empty, takes the place of a design.
	Wait Wait
}

// Wait is the wish to see an exchange's next Result before choosing. The agent asks
// again when it arrives. It also asks again, once and with View.Waited set, when the
// time is over or a computation of the exchange has failed without a Result.
type Wait struct {
	Exchange string
	For      time.Duration // above zero, since the first Wait of the trial
}
