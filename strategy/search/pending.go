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
// A posterior that rounding forbids to condition stays as it is: neighbourhoods of tried designs
// are left out all the same.
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

// WithLikelyPending returns designs, encoded and feasible ones, with the pending ones that are rather
// feasible than not: an improvement is one over all of these.
func (s Search) WithLikelyPending(view strategy.View, designs [][]float64) [][]float64 {
	reached := slices.Clone(designs)
	for _, x := range s.Pending(view) {
		if LikelyFeasible(view, x) {
			reached = append(reached, x)
		}
	}
	return reached
}
