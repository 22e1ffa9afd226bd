// Package latest implements an exchange in which each agent publishes one share and replaces it
// from time to time: after each observation, or after a number of observations. No agent waits for
// another.
//
// The strategy that uses the exchange defines the content and the schedule of shares in a [Spec].
package latest

import (
	"context"
	"time"

	"github.com/fbo-node/fbo/strategy"
)

// Spec defines the shares of an exchange. It must not change after New.
type Spec struct {
	Kind  string        // name of the exchange, and kind of its shares
	From  int           // number of observations before the first share; 0 means 1
	Every int           // number of further observations before each next share; 0 means 1
	TTL   time.Duration // how long a share stays valid if its author does not renew it

	// Count returns the number of observations that a share computed from this view uses. nil means
	// View.Observations.
	Count func(view strategy.View) int

	// Decode implements Exchange.Decode for the shares.
	Decode func(payload []byte) (any, error)
	// Compute returns the payload of a share of this view. It returns nil if there is nothing to
	// publish. It runs concurrently with the agent.
	Compute func(ctx context.Context, view strategy.View, seed strategy.Seed) ([]byte, error)
}

// Latest implements strategy.Exchange. It holds the state of one agent.
type Latest struct {
	spec Spec

	sharedAt  int // number of observations of the newest share that was requested or computed
	computing bool
}

var (
	_ strategy.Exchange     = (*Latest)(nil)
	_ strategy.Announceable = (*Latest)(nil)
)

// New returns the exchange of one agent that has published nothing.
func New(spec Spec) *Latest {
	if spec.Count == nil {
		spec.Count = func(view strategy.View) int { return view.Observations }
	}
	return &Latest{spec: spec}
}

// statement is the payload of a share, with the number of observations that it uses.
type statement struct {
	observations int
	payload      []byte
}

// Name implements strategy.Exchange.
func (e *Latest) Name() string { return e.spec.Kind }

// MayAnnounce implements strategy.Announceable: a share replaces the one before, and no agent waits for it.
func (*Latest) MayAnnounce() bool { return true }

// Decode implements strategy.Exchange.
func (e *Latest) Decode(payload []byte) (any, error) { return e.spec.Decode(payload) }

// Step implements strategy.Exchange.
func (e *Latest) Step(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Start, strategy.TrialsEnded:
		return e.compute(view)
	case strategy.WorkDone:
		e.computing = false
		said, ok := in.Result.(statement)
		if !ok {
			return nil // the agent has reported in.Err; the next attempt follows the next observation
		}
		e.sharedAt = said.observations // the computation may have used newer observations than its request
		next := e.compute(view)
		if said.payload == nil {
			return next
		}
		return append([]strategy.Output{strategy.Publish{Payload: said.payload, TTL: e.spec.TTL}}, next...)
	}
	return nil
}

// compute requests the computation of a new share if enough observations were added.
func (e *Latest) compute(view strategy.View) []strategy.Output {
	observations := e.spec.Count(view)
	next := max(e.spec.From, 1)
	if e.sharedAt > 0 {
		next = e.sharedAt + max(e.spec.Every, 1)
	}
	if e.computing || observations < next {
		return nil
	}
	e.computing, e.sharedAt = true, observations
	return []strategy.Output{strategy.Work{Name: e.spec.Kind, Run: func(ctx context.Context, view strategy.View, seed strategy.Seed) (any, error) {
		payload, err := e.spec.Compute(ctx, view, seed)
		if err != nil {
			return nil, err
		}
		return statement{e.spec.Count(view), payload}, nil
	}}}
}
