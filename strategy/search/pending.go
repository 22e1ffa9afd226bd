package search

import (
	"slices"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
)

// Pending returns the encodings of the designs whose outcomes are pending, in the order of
// trials: those that run, and those that wait to be evaluated again after a stop.
func (s Search) Pending(view strategy.View) (all [][]float64) {
	for _, trial := range view.Trials {
		if trial.State == strategy.Running || trial.State == strategy.Waiting {
			all = append(all, s.space.Encode(trial.Design))
		}
	}
	return all
}

// WithPending returns the view with posteriors of all outputs that take the outcomes of pending
// designs for their means ([surrogate.Pending], [surrogate.Constraint.WithPending]). It is
// for acquisition functions alone: shares, recommendations and the stopping rule use real
// outcomes. Without pending designs it is the view itself. A sample of a posterior needs no
// pending designs, since samples are independent of each other.
//
// A posterior that cannot be conditioned because of rounding remains unchanged. Neighbourhoods of
// tried designs are excluded anyway.
func (s Search) WithPending(view strategy.View) strategy.View {
	x := s.Pending(view)
	if len(x) == 0 {
		return view
	}
	if known, ok := view.Posterior.(surrogate.Pending); ok {
		if believed, err := known.WithPending(x); err == nil {
			view.Posterior = believed
		}
	}
	view.Constraints = slices.Clone(view.Constraints)
	for i, c := range view.Constraints {
		view.Constraints[i] = withPending(c, x)
	}
	if view.Completion != nil {
		view.Completion = withPending(view.Completion, x)
	}
	return view
}

func withPending(c *surrogate.Constraint, x [][]float64) *surrogate.Constraint {
	if believed, err := c.WithPending(x); err == nil {
		return believed
	}
	return c
}

// WithLikelyPending returns designs, which are encoded and feasible, followed by the pending designs
// that are feasible with probability 1/2 or more. The improvement is computed over all of them.
func (s Search) WithLikelyPending(view strategy.View, designs [][]float64) [][]float64 {
	reached := slices.Clone(designs)
	for _, x := range s.Pending(view) {
		if LikelyFeasible(view, x) {
			reached = append(reached, x)
		}
	}
	return reached
}
