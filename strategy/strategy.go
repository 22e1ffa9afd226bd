package strategy

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// View is an immutable snapshot of an agent's state: its own trials, its models and the shares of
// its peers. Neither the agent nor strategies and exchanges may change it.
type View struct {
	Task            *task.Task
	Self            peer.ID
	Trials          []Trial          // the agent's own trials in order of ID, without those that SetAside counts
	SetAside        int              // number of own trials that are not in Trials: they precede all others and failed in earlier runs, before any trial had an outcome
	Observations    int              // number of Trials that have an outcome
	Posterior       Posterior        // of the objective, or of the first of several; nil until there is an observation
	Shares          []*Share         // peers' shares that have not expired, in order of author, kind and slot
	Own             []protocol.Share // the agent's own shares that have not expired and that peers store, in order of kind and slot; their payloads are not decoded
	Results         map[string]any   // the latest Result of each exchange, by the name of the exchange
	MaxObservations int              // maximum number of observations that an exact model learns from; 0 means DefaultMaxObservations
	PriorDesigns    []task.Design    // designs that the user expects to be near-optimal
	Large           bool             // the topic is large: agents announce their shares by presence messages, and fetch those of some authors

	// Objectives are the posteriors of all objectives of a task with several, in the order of
	// task.ObjectiveOutputs; the first is Posterior. It is nil until each has an observation, and for a
	// task with one objective.
	Objectives []Posterior

	// Constraints are the posteriors of the task's constraints, in the order of Task.Bounds.
	// Constraints without an observation are left out.
	Constraints []*Constraint

	// Completion is the posterior of whether an evaluation completes. It is nil unless the task
	// learns failures (task.LearnFailures) and some failure shows that completion depends on the
	// design.
	Completion *Constraint

	// Cost is the posterior of the logarithm of the cost of an evaluation ([LogCosts]). It implements
	// surrogate.Scaled. It is nil until there is a cost, and unless the strategy is a [CostUser].
	Cost Posterior

	// Waited names the exchange for which the agent has waited in this trial without a Result (see
	// [Wait]). The strategy must then choose without that Result: a second Wait is an error. Waited
	// is empty if the agent has not waited, or if the Result arrived.
	Waited string
}

// Strategy chooses the next design of an agent. A Strategy is immutable, so that agents of one
// process may share it.
type Strategy interface {
	// Suggest chooses the design of a trial. The trial is numbered from 1: it is the trial's ID
	// minus View.SetAside. The same view, trial and seed give the same suggestion.
	//
	// A call may take long and runs concurrently with the agent. When ctx ends, Suggest should
	// return soon with the error of ctx. If Suggest fails or panics, the agent calls it again with
	// a view without peers' shares. In that call it may not return a Wait.
	Suggest(ctx context.Context, view View, trial uint64, seed Seed) (Suggestion, error)
}

// Recommender is an optional interface of a Strategy that computes the recommended design itself.
// The agent computes it for other strategies, from its own posterior.
type Recommender interface {
	// Recommend returns the recommended design. It returns the zero design while too little is
	// known, and when ctx ends before the computation does. A call may take as long as Suggest.
	Recommend(ctx context.Context, view View, seed Seed) task.Design
}

// CommonRecommender is an optional interface of a Strategy for federations that need one design for all
// agents. RecommendCommon takes the place of [Recommender].
type CommonRecommender interface {
	// RecommendCommon returns the design that is recommended to all agents. Agents whose views have the
	// same shares, the own one included, return the same. The result is the zero value while too
	// little is known. A call may take as long as Suggest.
	RecommendCommon(ctx context.Context, view View) (Common, error)
}

// Common is a design that is recommended to all agents.
type Common struct {
	Design    task.Design
	Predicted float64 // predicted average of the agents' objectives there, in the task's units
	Agents    int     // number of agents whose results the recommendation uses
}

// SharesFromStart is an optional interface of a Strategy. UsesSharesFromStart reports whether
// peers' shares can already influence the first design. An agent then profits from receiving shares
// before it asks for that design.
type SharesFromStart interface {
	UsesSharesFromStart() bool
}

// CostUser is an optional interface of a Strategy. UsesCost reports whether the agent should model the
// cost of evaluations ([View.Cost]).
type CostUser interface {
	UsesCost() bool
}

// Suggestion is a design with its reason, or a request to wait.
type Suggestion struct {
	Design task.Design
	Why    Why

	// Forecast predicts the outcome of the design. It is nil if the design does not depend on
	// peers' shares, or if too little is known for a prediction.
	Forecast *Forecast

	// Wait asks the agent to wait if its Exchange is not empty. The agent then ignores the other
	// fields.
	Wait Wait
}

// Wait asks the agent to wait for the next Result of an exchange before the design is chosen. The
// agent calls Suggest again when the Result arrives. If the time ends first, or if a computation of
// the exchange fails without a Result, it calls Suggest once more with View.Waited set.
type Wait struct {
	Exchange string
	For      time.Duration // maximum time, counted from the first Wait of the trial; above 0
}
