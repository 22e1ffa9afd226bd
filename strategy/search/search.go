package search

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const (
	nearest      = 5  // how many of the best own designs a search also starts from
	freshDesigns = 64 // how many random designs are tried to find a new one
	smallestPart = 16 // of the space within which so many are found, on average: a sixteenth
)

// Search finds designs of one task.
type Search struct {
	Maximizer acquisition.Maximizer

	task    *task.Task
	space   *task.Space
	initial uint64
}

// New returns the search for a task.
func New(t *task.Task) Search {
	return Search{
		Maximizer: acquisition.Maximizer{Space: t.Space},
		task:      t,
		space:     t.Space,
		initial:   uint64(t.Strategy.InitialDesigns),
	}
}

// Starting tells whether this trial is one of the starting designs, or there is
// too little to learn from yet.
func (s Search) Starting(view strategy.View, trial uint64) bool {
	return trial <= s.initial || view.Posterior == nil
}

// AfterStart counts trials from the first one that is not a starting design;
// 0 for a starting design.
func (s Search) AfterStart(trial uint64) uint64 { return trial - min(trial, s.initial) }

// Start suggests a random design that was not tried yet.
func (s Search) Start(view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	return s.StartWithin(view, trial, seed, func([]float64) bool { return true })
}

// StartWithin is Start among the designs whose encodings lie within a part of the
// space. Where chance finds none of these, it is Start.
func (s Search) StartWithin(view strategy.View, trial uint64, seed random.Seed, within func(x []float64) bool) (strategy.Suggestion, error) {
	design, ok := s.freshWithin(view, seed.Stream("start", trial), within)
	if !ok {
		design, ok = s.fresh(view, seed.Stream("start", trial))
	}
	if !ok && s.failed(view)[design.Key()] {
		return strategy.Suggestion{}, errors.New("search: every design that was tried has failed, and chance finds no other")
	}
	return strategy.Suggestion{Design: design, Why: strategy.Why{Source: strategy.Initial}}, nil
}

// Maximise suggests the maximiser of f, or the next best design where that has been
// tried: see the package comment.
//
// Its error is that of ctx, when ctx ends before the search does.
func (s Search) Maximise(ctx context.Context, view strategy.View, trial uint64, seed random.Seed, f acquisition.Function, why strategy.Why) (strategy.Suggestion, error) {
	near := s.Best(view)
	x, _, err := s.Maximizer.Maximize(ctx, f, near, seed.Stream("maximise", trial))
	if err != nil {
		return strategy.Suggestion{}, err
	}
	design, past := s.space.Decode(x), s.pastOf(view)
	if at := past.at(design, x); at != nil {
		return choice{s, past, f, near, at}.suggest(ctx, view, trial, seed, why)
	}
	return strategy.Suggestion{Design: design, Why: why}, nil
}

// Recommend returns the design of largest posterior mean, among those believed to be
// feasible; the zero design while there is no posterior, and when ctx ends before the
// search does.
func (s Search) Recommend(ctx context.Context, view strategy.View, seed random.Seed) task.Design {
	if view.Posterior == nil {
		return task.Design{}
	}
	return s.Top(ctx, view, seed, Believed(view, acquisition.Mean(view.Posterior)))
}

// Top returns the design at the maximum of f, to be recommended; the zero design when
// ctx ends before the search does.
func (s Search) Top(ctx context.Context, view strategy.View, seed random.Seed, f acquisition.Function) task.Design {
	x, _, err := s.Maximizer.Maximize(ctx, f, s.Best(view), seed.Stream("recommend", 0))
	if err != nil {
		return task.Design{}
	}
	return s.space.Decode(x)
}

// Best returns the encodings of the five best designs so far, best first: feasible
// ones, then those of least violation.
func (s Search) Best(view strategy.View) [][]float64 {
	return s.best(view, func(strategy.Trial) bool { return true })
}

// BestFeasible is Best of the feasible designs.
func (s Search) BestFeasible(view strategy.View) [][]float64 {
	return s.best(view, func(trial strategy.Trial) bool { return s.task.Feasible(trial.Outcome) })
}

func (s Search) best(view strategy.View, among func(strategy.Trial) bool) [][]float64 {
	var done []strategy.Trial
	for _, trial := range view.Trials {
		if trial.State == strategy.Done && among(trial) {
			done = append(done, trial)
		}
	}
	slices.SortStableFunc(done, func(a, b strategy.Trial) int {
		return s.task.Compare(b.Outcome, a.Outcome)
	})
	var near [][]float64
	for _, trial := range done[:min(len(done), nearest)] {
		near = append(near, s.space.Encode(trial.Design))
	}
	return near
}

// Tried tells whether a trial of the view has this design, or one runs or has failed
// nearby.
func (s Search) Tried(view strategy.View, design task.Design) bool {
	return s.pastOf(view).at(design, s.space.Encode(design)) != nil
}

// AtMost returns so many of all, drawn by rng where there are more; it may alter the order
// of all.
func AtMost[T any](most int, all []T, rng *rand.Rand) []T {
	if len(all) > most {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:most]
	}
	return all
}

// fresh draws a design uniformly among those not tried. When chance finds none,
// the space is all but exhausted: it returns a repeated design and false, one
// that has not failed if chance finds such a one.
func (s Search) fresh(view strategy.View, rng *rand.Rand) (task.Design, bool) {
	return s.freshWithin(view, rng, func([]float64) bool { return true })
}

func (s Search) freshWithin(view strategy.View, rng *rand.Rand, within func(x []float64) bool) (task.Design, bool) {
	tried, failed := s.tried(view), s.failed(view)
	var repeated task.Design
	inside := 0
	for range freshDesigns * smallestPart {
		design := s.space.Decode(acquisition.Sample(s.space, rng))
		if !within(s.space.Encode(design)) {
			continue
		}
		if inside++; inside > freshDesigns {
			break
		}
		if !tried[design.Key()] {
			return design, true
		}
		if repeated.IsZero() || failed[repeated.Key()] {
			repeated = design
		}
	}
	return repeated, false
}

func (s Search) failed(view strategy.View) map[string]bool {
	failed := map[string]bool{}
	for _, trial := range view.Trials {
		if trial.State == strategy.Failed {
			failed[trial.Design.Key()] = true
		}
	}
	return failed
}

func (s Search) tried(view strategy.View) map[string]bool {
	tried := make(map[string]bool, len(view.Trials))
	for _, trial := range view.Trials {
		tried[trial.Design.Key()] = true
	}
	return tried
}
