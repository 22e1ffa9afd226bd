package search

import (
	"slices"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
)

// Pending returns the encoded designs of pending trials, in the order of trials. A trial is pending
// while it runs, or while it waits to be evaluated again after the node stopped.
func (s Search) Pending(view strategy.View) (all [][]float64) {
	for _, trial := range view.Trials {
		if trial.State == strategy.Running || trial.State == strategy.Waiting {
			all = append(all, s.space.Encode(trial.Design))
		}
	}
	return all
}

// WithPending returns the view with posteriors in which each pending outcome equals its posterior
// mean ([surrogate.Pending], [surrogate.Constraint.WithPending]). It does so for the objectives, the
// constraints and completion. Without pending designs it returns the view unchanged.
//
// Only acquisition functions may use the result. Shares, recommendations and the stopping rule use
// real outcomes. Samples of a posterior do not need it either, since they are independent of each
// other.
//
// A posterior that cannot be conditioned because of rounding errors remains unchanged. This does
// little harm, since neighbourhoods of tried designs are excluded from searches anyway.
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
	view.Objectives = slices.Clone(view.Objectives)
	for i, p := range view.Objectives {
		if known, ok := p.(surrogate.Pending); ok {
			if believed, err := known.WithPending(x); err == nil {
				view.Objectives[i] = believed
			}
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

// WithLikelyPending returns designs, which must be encoded and feasible, followed by the pending
// designs that are feasible with probability 1/2 or more. Strategies compute the expected
// improvement over all of them.
func (s Search) WithLikelyPending(view strategy.View, designs [][]float64) [][]float64 {
	reached := slices.Clone(designs)
	for _, x := range s.Pending(view) {
		if LikelyFeasible(view, x) {
			reached = append(reached, x)
		}
	}
	return reached
}
