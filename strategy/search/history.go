package search

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Radii of neighbourhoods, in the unit cube. A design is outside of a neighbourhood if at least one
// coordinate differs from the centre by more than the radius.
const (
	minDistance   = 1.0 / 64 // around each tried design
	maxDistance   = 1.0 / 2  // largest radius around the maximiser, if it was tried
	smallDistance = 1.0 / 4096
	zeroDistance  = 1e-12 // excludes only the design itself
)

// tried is a trial with its encoded design.
type tried struct {
	strategy.Trial
	x []float64
}

// repeatable reports whether the design may be evaluated again. A design that is running, waiting
// or has failed may not.
func (t *tried) repeatable() bool {
	return t.State == strategy.Done || t.State == strategy.StoppedEarly
}

// history holds the tried designs of a view.
type history struct {
	trials []tried
	byKey  map[string]*tried // by key of the design; of several trials of a design, a trial that is not repeatable, otherwise the newest
}

func (s Search) historyOf(view strategy.View) history {
	p := history{trials: make([]tried, len(view.Trials)), byKey: make(map[string]*tried, len(view.Trials))}
	for i, trial := range view.Trials {
		p.trials[i] = tried{trial, s.space.Encode(trial.Design)}
		if before := p.byKey[trial.Design.Key()]; before == nil || before.repeatable() {
			p.byKey[trial.Design.Key()] = &p.trials[i]
		}
	}
	return p
}

// at returns the trial of a design, or a trial within minDistance that is not repeatable. It
// returns nil if there is neither.
func (p history) at(design task.Design, x []float64) *tried {
	if t := p.byKey[design.Key()]; t != nil {
		return t
	}
	for i := range p.trials {
		if t := &p.trials[i]; !t.repeatable() && t.around(minDistance).Contains(x) {
			return t
		}
	}
	return nil
}

func (t *tried) around(radius float64) acquisition.Box {
	return acquisition.Box{Centre: t.x, Radius: radius}
}

// alternative chooses a design when the maximiser of f has been tried.
type alternative struct {
	Search
	history
	f    Function
	near [][]float64 // encoded designs from which the search also starts
	at   *tried      // trial of the maximiser, or a trial near it that is not repeatable
}

// suggest returns the next best design, or the maximiser again if shouldReplicate returns true. It
// sets the remaining fields of why. The only error is that of ctx.
func (c alternative) suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed, why strategy.Why) (strategy.Suggestion, error) {
	x, ok, err := c.nextBest(ctx, seed.Stream("next best", trial))
	switch {
	case err != nil:
		return strategy.Suggestion{}, err
	case ok && c.at.repeatable() && shouldReplicate(view.Posterior, c.at.x, x):
		why.RepeatOf = c.at.ID
		return strategy.Suggestion{Design: c.at.Design, Why: why}, nil
	case ok:
		why.NextBest = c.at.ID
		return strategy.Suggestion{Design: c.space.Decode(x), Why: why}, nil
	}
	if design, ok := c.fresh(view, seed.Stream("random", trial)); ok {
		why.Source, why.Phrase = strategy.Remaining, ""
		return strategy.Suggestion{Design: design, Why: why}, nil
	}
	t, err := c.bestAgain(ctx, seed.Stream("again", trial))
	if err != nil {
		return strategy.Suggestion{}, err
	}
	why.RepeatOf = t.ID
	return strategy.Suggestion{Design: t.Design, Why: why}, nil
}

// nextBest maximises f outside the neighbourhoods of all tried designs. The neighbourhood of the
// maximiser is larger than the others by a factor drawn from 1 to 32. No fixed size would fit,
// because it is unknown how far an observation informs about designs near it. If the neighbourhoods
// fill the space, nextBest repeats the search with smaller ones. ok is false if every design that
// it finds has been tried.
func (c alternative) nextBest(ctx context.Context, rng *rand.Rand) (x []float64, ok bool, err error) {
	wide := minDistance * math.Pow(maxDistance/minDistance, rng.Float64())
	for _, radius := range []float64{minDistance, smallDistance, zeroDistance} {
		boxes := make([]acquisition.Box, 0, len(c.trials)+1)
		for i := range c.trials {
			boxes = append(boxes, c.trials[i].around(radius))
		}
		if radius == minDistance {
			boxes = append(boxes, c.at.around(wide))
		}
		x, ok, err = c.outside(ctx, boxes, rng)
		if err != nil {
			return nil, false, err
		}
		if ok && c.byKey[c.space.Decode(x).Key()] == nil {
			return x, true, nil
		}
	}
	return nil, false, nil
}

// bestAgain returns the trial with the largest f among the repeatable ones, or c.at if there is
// none. It is called when all designs seem to have been tried.
func (c alternative) bestAgain(ctx context.Context, rng *rand.Rand) (*tried, error) {
	var boxes []acquisition.Box
	for i := range c.trials {
		if t := &c.trials[i]; !t.repeatable() {
			boxes = append(boxes, t.around(zeroDistance))
		}
	}
	x, ok, err := c.outside(ctx, boxes, rng)
	if err != nil {
		return nil, err
	}
	if ok {
		if t := c.byKey[c.space.Decode(x).Key()]; t != nil {
			return t, nil
		}
	}
	return c.at, nil
}

// outside maximises f outside the boxes. ok is false if it finds no design there.
func (c alternative) outside(ctx context.Context, boxes []acquisition.Box, rng *rand.Rand) (x []float64, ok bool, err error) {
	f := acquisition.NewOutside(c.f, c.space, boxes)
	x, value, err := c.Maximizer.Maximize(ctx, f, c.near, rng)
	if err != nil {
		return nil, false, err
	}
	_, ok = f.Leave(x)
	return x, ok && !math.IsInf(value, -1), nil
}

// shouldReplicate reports whether the tried design x should be evaluated again instead of next, the
// next best design. This is so if noise hides which of the two is better, and the posterior
// variance at x exceeds half the noise's variance, the variance after two observations of x.
func shouldReplicate(posterior surrogate.Posterior, x, next []float64) bool {
	if posterior == nil {
		return false
	}
	mean, variance := posterior.Predict(x)
	other, _ := posterior.Predict(next)
	noise := posterior.Hyperparameters().Noise
	return noise > 0 && variance >= noise/2 && math.Sqrt(variance) >= math.Abs(mean-other)
}
