package tsampling

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Bounds of the search for a sample's maximiser.
const (
	nearest      = 5  // how many of the best own designs it also starts from
	freshDesigns = 64 // how many random designs are tried to find a new one
)

// TS is Thompson sampling alone: after the starting designs, each design
// maximises a sample of the agent's own posterior.
type TS struct {
	space     *task.Space
	sign      float64 // +1 when bigger values are better
	initial   uint64
	maximizer acquisition.Maximizer
}

var _ strategy.Strategy = TS{}

// NewTS returns the strategy for a task.
func NewTS(t *task.Task) TS {
	sign := 1.0
	if t.Goal == task.Minimize {
		sign = -1
	}
	return TS{
		space:     t.Space,
		sign:      sign,
		initial:   uint64(t.Strategy.InitialDesigns),
		maximizer: acquisition.Maximizer{Space: t.Space},
	}
}

// Suggest implements strategy.Strategy.
func (s TS) Suggest(view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if s.starting(view, trial) {
		design, ok := s.fresh(view, seed.Stream("start", trial))
		if !ok && s.failed(view)[design.Key()] {
			return strategy.Suggestion{}, errors.New("tsampling: every design that was tried has failed, and chance finds no other")
		}
		return strategy.Suggestion{Design: design, Why: strategy.Why{Source: strategy.Initial}}, nil
	}
	return s.ownSample(view, trial, seed, 0), nil
}

// starting tells whether there is too little to learn from yet.
func (s TS) starting(view strategy.View, trial uint64) bool {
	return trial <= s.initial || view.Posterior == nil
}

func (s TS) ownSample(view strategy.View, trial uint64, seed random.Seed, probability float64) strategy.Suggestion {
	sample := view.Posterior.Draw(seed.Stream("own sample", trial))
	return s.maximise(view, trial, seed, sample, strategy.Why{Source: strategy.Own, OwnProbability: probability})
}

// maximise suggests the maximiser of f, or a random new design when that was
// tried before (the paper's rule; it keeps noise-free samples from stalling).
func (s TS) maximise(view strategy.View, trial uint64, seed random.Seed, f acquisition.Function, why strategy.Why) strategy.Suggestion {
	x, _ := s.maximizer.Maximize(f, s.best(view), seed.Stream("maximise", trial))
	design := s.space.Decode(x)
	if s.tried(view)[design.Key()] {
		other, ok := s.fresh(view, seed.Stream("random", trial))
		if ok || s.failed(view)[design.Key()] {
			design, why.Source = other, strategy.Random
		}
	}
	return strategy.Suggestion{Design: design, Why: why}
}

// best returns the encodings of the best designs so far, best first.
func (s TS) best(view strategy.View) [][]float64 {
	var done []strategy.Trial
	for _, trial := range view.Trials {
		if trial.State == strategy.Done {
			done = append(done, trial)
		}
	}
	slices.SortStableFunc(done, func(a, b strategy.Trial) int {
		return cmp.Compare(s.sign*b.Outcome.Value, s.sign*a.Outcome.Value)
	})
	var near [][]float64
	for _, trial := range done[:min(len(done), nearest)] {
		near = append(near, s.space.Encode(trial.Design))
	}
	return near
}

// fresh draws a design uniformly among those not tried. When chance finds none,
// the space is all but exhausted: it returns a repeated design and false, one
// that has not failed if chance finds such a one.
func (s TS) fresh(view strategy.View, rng *rand.Rand) (task.Design, bool) {
	tried, failed := s.tried(view), s.failed(view)
	var repeated task.Design
	for range freshDesigns {
		design := s.space.Decode(acquisition.Sample(s.space, rng))
		if !tried[design.Key()] {
			return design, true
		}
		if repeated.IsZero() || failed[repeated.Key()] {
			repeated = design
		}
	}
	return repeated, false
}

func (s TS) failed(view strategy.View) map[string]bool {
	failed := map[string]bool{}
	for _, trial := range view.Trials {
		if trial.State == strategy.Failed {
			failed[trial.Design.Key()] = true
		}
	}
	return failed
}

func (s TS) tried(view strategy.View) map[string]bool {
	tried := make(map[string]bool, len(view.Trials))
	for _, trial := range view.Trials {
		tried[trial.Design.Key()] = true
	}
	return tried
}
