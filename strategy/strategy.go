package strategy

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/task"
)

// View is what an agent knows at one moment. It is an immutable snapshot: neither the agent nor
// its receivers may change it.
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

	// Waited names the exchange whose Result did not arrive during a Wait of this trial. The
	// strategy must then choose without it, since a further Wait is an error. Waited is empty
	// if no Wait has ended without a Result.
	Waited string
}

// Strategy chooses designs.
type Strategy interface {
	// Suggest chooses the design of a trial by its number, which is its ID less View.SetAside. The
	// same view, trial and seed give the same suggestion; a call changes nothing. It may take
	// long and runs concurrently with the agent. When ctx ends, it should return soon with the
	// error of ctx. If it fails or panics, the agent calls it again with a view without peers, for
	// which it may not wait.
	Suggest(ctx context.Context, view View, trial uint64, seed Seed) (Suggestion, error)
}

// Recommender is an optional interface of a Strategy whose recommended design differs from the
// best supported one by the agent's own posterior.
type Recommender interface {
	// Recommend returns the recommended design. It is zero while too little is known, and when
	// ctx ends first. A call may take as long as Suggest.
	Recommend(ctx context.Context, view View, seed Seed) task.Design
}

// SharesFromStart is an optional interface of a Strategy whose first design can already use peers'
// shares, so that an agent benefits from receiving shares before it asks.
type SharesFromStart interface {
	UsesSharesFromStart() bool
}

// Suggestion is a design with its reason, or a request to wait.
type Suggestion struct {
	Design task.Design
	Why    Why

	// Forecast predicts the design's result. It is nil if the design did not depend on peers' shares,
	// or too little is known.
	Forecast *Forecast

	// Wait replaces the design if its Exchange is not empty.
	Wait Wait
}

// Wait is a request for an exchange's next Result before the choice. The agent calls Suggest
// again when it arrives. It also calls again, once and with View.Waited set, when the
// time is over or a computation of the exchange has failed without a Result.
type Wait struct {
	Exchange string
	For      time.Duration // above zero, since the first Wait of the trial
}
