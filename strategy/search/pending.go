package search

import (
	"slices"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/surrogate"
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

// WithPending returns the view with a posterior that takes the outcomes of pending designs
// for its mean ([surrogate.Pending]). It is for acquisition functions alone: what a node
// publishes, recommends or stops by rests on real outcomes. Without pending designs it
// is the view itself. A sample of the posterior needs no pending designs, since samples are
// independent of each other.
func (s Search) WithPending(view strategy.View) strategy.View {
	x := s.Pending(view)
	if known, ok := view.Posterior.(surrogate.Pending); ok && len(x) > 0 {
		if believed, err := known.WithPending(x); err == nil { // else rounding forbids it, and the neighbourhoods of tried designs must do
			view.Posterior = believed
		}
	}
	return view
}

// Reached returns designs, encoded and feasible ones, with the pending ones that are rather
// feasible than not: an improvement is one over all of these.
func (s Search) Reached(view strategy.View, designs [][]float64) [][]float64 {
	reached := slices.Clone(designs)
	for _, x := range s.Pending(view) {
		if Likely(view, x) {
			reached = append(reached, x)
		}
	}
	return reached
}
