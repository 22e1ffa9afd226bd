package search

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// searchStarts is the number of best own designs that a search uses as additional starting points.
const searchStarts = 5

// Search chooses designs of one task. It is immutable.
type Search struct {
	Maximizer Maximizer

	task    *task.Task
	space   *task.Space
	initial uint64
	centred bool // the first starting design is the centre of the space
}

// New returns the search for a task.
func New(t *task.Task) Search {
	return Search{
		Maximizer: Maximizer{Space: t.Space},
		task:      t,
		space:     t.Space,
		initial:   uint64(t.Strategy.InitialDesigns),
		centred:   t.Privacy == nil,
	}
}

// WithoutCentre returns the search with a first starting design that is as random as the others. It
// is for strategies that a common first design of all agents harms. In some of them all agents
// evaluate the same function. In others they average their candidates, which lie opposite each
// other after a common design.
func (s Search) WithoutCentre() Search {
	s.centred = false
	return s
}

// Starting reports whether this trial is one of the starting designs, or the view has no
// posterior yet.
func (s Search) Starting(view strategy.View, trial uint64) bool {
	return trial <= s.initial || view.Posterior == nil
}

// AfterStart returns the number of this trial, counted from the first one after the starting
// designs. It returns 0 for a starting design.
func (s Search) AfterStart(trial uint64) uint64 { return trial - min(trial, s.initial) }

// Maximise suggests the maximiser of f, or the next best design if the maximiser has been tried
// (see the package comment). If failures are modelled and the newest ended trial failed, only
// designs that are likely to complete are considered.
//
// The only error is that of ctx, if ctx ends before the search does.
func (s Search) Maximise(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed, f Function, why strategy.Why) (strategy.Suggestion, error) {
	near := s.Best(view)
	f = amongCompleting(view, f)
	x, _, err := s.Maximizer.Maximize(ctx, f, near, seed.Stream("maximise", trial))
	if err != nil {
		return strategy.Suggestion{}, err
	}
	design, past := s.space.Decode(x), s.historyOf(view)
	if at := past.at(design, x); at != nil {
		return alternative{s, past, f, near, at}.suggest(ctx, view, trial, seed, why)
	}
	return strategy.Suggestion{Design: design, Why: why}, nil
}

// Recommend returns the design with the largest lower confidence bound under the view's posterior
// ([LowerBound]). It returns the zero design if there is no posterior or ctx ends before the search
// does.
func (s Search) Recommend(ctx context.Context, view strategy.View, seed strategy.Seed) task.Design {
	if view.Posterior == nil {
		return task.Design{}
	}
	return s.Top(ctx, view, seed, LowerBound(view, view.Posterior))
}

// Optimum returns the estimated optimum: the design with the largest posterior mean among those
// that are probably feasible ([AmongFeasible]). It returns the zero design in the same cases as
// Recommend.
func (s Search) Optimum(ctx context.Context, view strategy.View, seed strategy.Seed) task.Design {
	if view.Posterior == nil {
		return task.Design{}
	}
	return s.Top(ctx, view, seed, AmongFeasible(view, acquisition.Mean(view.Posterior)))
}

// LowerBound returns the lower confidence bound of p: the mean minus one standard deviation,
// restricted to designs that are probably feasible ([AmongFeasible]). Its maximiser is a better
// recommendation than two alternatives. The largest mean may be far from all observations, and the
// best observation may be due to chance. No evaluated design has a better bound than the maximiser.
func LowerBound(view strategy.View, p Predictor) Function {
	return AmongFeasible(view, acquisition.LCB(p, 1))
}

// Top returns the design that maximises f, for a recommendation. It returns the zero design if ctx
// ends before the search does.
//
// If evaluations were stopped early, the result is the best of the designs that have an outcome: the
// model's observations of stopped trials are optimistic bounds, near which f may be large.
func (s Search) Top(ctx context.Context, view strategy.View, seed strategy.Seed, f Function) task.Design {
	if stopped := func(t strategy.Trial) bool { return t.State == strategy.StoppedEarly }; slices.ContainsFunc(view.Trials, stopped) {
		return s.topOfOutcomes(view, f)
	}
	x, _, err := s.Maximizer.Maximize(ctx, f, s.Best(view), seed.Stream("recommend", 0))
	if err != nil {
		return task.Design{}
	}
	return s.space.Decode(x)
}

// topOfOutcomes returns the design with an outcome at which f is largest, or the zero design.
func (s Search) topOfOutcomes(view strategy.View, f Function) (top task.Design) {
	largest := math.Inf(-1)
	for _, trial := range finished(view, func(*strategy.Trial) bool { return true }) {
		if value := f.Value(s.space.Encode(trial.Design)); top.IsZero() || value > largest {
			top, largest = trial.Design, value
		}
	}
	return top
}

// Best returns the encodings of the five best evaluated designs, best first. Infeasible designs
// come after feasible ones, in order of their violation. With several objectives it returns five
// designs of the Pareto front.
func (s Search) Best(view strategy.View) [][]float64 {
	return s.best(view, func(*strategy.Trial) bool { return true })
}

// BestFeasible returns the encodings of the five best feasible designs, best first.
func (s Search) BestFeasible(view strategy.View) [][]float64 {
	return s.best(view, s.feasible)
}

// Feasible returns the encodings of the designs that were measured to be feasible, in the order of
// trials. If there are more than an exact model learns from (View.MaxObservations), it returns only
// those among the observations that the model learns from.
func (s Search) Feasible(view strategy.View) [][]float64 {
	done := finished(view, s.feasible)
	if len(done) > cmp.Or(view.MaxObservations, strategy.DefaultMaxObservations) {
		done = nil
		for _, i := range view.ExactlyModelled() {
			if trial := &view.Trials[i]; s.feasible(trial) {
				done = append(done, trial)
			}
		}
	}
	var all [][]float64
	for _, trial := range done {
		all = append(all, s.space.Encode(trial.Design))
	}
	return all
}

// CountFeasible returns the number of trials that were measured to be feasible.
func (s Search) CountFeasible(view strategy.View) int { return len(finished(view, s.feasible)) }

func (s Search) feasible(trial *strategy.Trial) bool {
	return trial.State == strategy.Done && s.task.Feasible(trial.Outcome)
}

// finished returns the trials that have an outcome and for which among is true.
func finished(view strategy.View, among func(*strategy.Trial) bool) (all []*strategy.Trial) {
	for i := range view.Trials {
		if trial := &view.Trials[i]; trial.State == strategy.Done && among(trial) {
			all = append(all, trial)
		}
	}
	return all
}

func (s Search) best(view strategy.View, among func(*strategy.Trial) bool) [][]float64 {
	done := finished(view, among)
	if s.task.Several() {
		if front := strategy.SortedFront(s.task, view.Trials); len(front) > 0 {
			done = spread(front, searchStarts)
		}
	}
	slices.SortStableFunc(done, func(a, b *strategy.Trial) int {
		return s.task.Compare(b.Outcome, a.Outcome)
	})
	var near [][]float64
	for _, trial := range done[:min(len(done), searchStarts)] {
		near = append(near, s.space.Encode(trial.Design))
	}
	return near
}

// FrontDesigns returns the encodings of at most `most` designs of the Pareto front, evenly spaced in the
// order of the first objective. There are none before a feasible outcome.
func (s Search) FrontDesigns(view strategy.View, most int) (designs [][]float64) {
	for _, trial := range spread(strategy.SortedFront(s.task, view.Trials), most) {
		designs = append(designs, s.space.Encode(trial.Design))
	}
	return designs
}

// spread returns at most `most` trials of a sorted front, evenly spaced.
func spread(front []*strategy.Trial, most int) (some []*strategy.Trial) {
	n := min(len(front), most)
	for i := range n {
		some = append(some, front[i*(len(front)-1)/max(n-1, 1)])
	}
	return some
}

// Tried reports whether a trial of the view has this design, or a trial that runs or has failed is
// near it.
func (s Search) Tried(view strategy.View, design task.Design) bool {
	return s.historyOf(view).at(design, s.space.Encode(design)) != nil
}

// AtMost returns at most `most` elements of all, drawn by rng if there are more. It may change
// the order of all.
func AtMost[T any](most int, all []T, rng *rand.Rand) []T {
	if len(all) > most {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:most]
	}
	return all
}

// Predicted returns the posterior mean of the objective at a design, in the task's units. ok is
// false if there is no posterior, if it has no units, or if the value is not finite.
func Predicted(view strategy.View, design task.Design) (value float64, ok bool) {
	scaled, ok := view.Posterior.(surrogate.Scaled)
	if !ok {
		return 0, false
	}
	mean, _ := scaled.Predict(view.Task.Space.Encode(design))
	value = view.Task.Goal.Sign() * scaled.Units().Output(mean)
	return value, !math.IsNaN(value) && !math.IsInf(value, 0)
}

// Noisy reports whether the best outcome is mostly due to chance. It returns true if the
// posterior's noise variance exceeds the variance of the posterior means at the evaluated designs.
func Noisy(view strategy.View) bool {
	if view.Posterior == nil {
		return false
	}
	var means []float64
	for _, at := range view.ExactlyModelled() { // a random-feature model may have learned from many more
		mean, _ := view.Posterior.Predict(view.Task.Space.Encode(view.Trials[at].Design))
		means = append(means, mean)
	}
	return len(means) > 1 && view.Posterior.Hyperparameters().Noise > stat.Variance(means, nil)
}
