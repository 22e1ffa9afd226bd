package search

import (
	"errors"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const (
	freshDesigns = 64 // number of random designs that are tried to find a new one
	smallestPart = 16 // freshDesigns are found on average in parts of the space as small as 1/smallestPart
)

// Start suggests the design of this trial in the Latin hypercube of the seed. It suggests a random
// design if that design has been tried, or if the trial is not one of the starting designs. For
// listed designs it first suggests the design nearest to the centre, and then random ones. Random
// designs differ from those of trials that were set aside (View.SetAside), since their random
// stream does.
func (s Search) Start(view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	listed := s.space.Listing() != nil
	if trial >= 1 && trial <= s.initial && (!listed || trial == 1 && s.centred) {
		if design := s.latin(trial, seed); !s.tried(view)[design.Key()] {
			return starting(design), nil
		}
	}
	return s.StartWithin(view, trial, seed, func([]float64) bool { return true })
}

// StartWithin suggests a random design that was not tried yet and whose encoding satisfies within.
// If sampling finds no such design, StartWithin suggests one from the whole space. It returns an
// error if every design that it finds has failed.
func (s Search) StartWithin(view strategy.View, trial uint64, seed strategy.Seed, within func(x []float64) bool) (strategy.Suggestion, error) {
	stream := trial + uint64(view.SetAside)
	design, ok := s.freshWithin(view, seed.Stream("start", stream), within)
	if !ok {
		design, ok = s.fresh(view, seed.Stream("start", stream))
	}
	if !ok && s.failed(view)[design.Key()] {
		return strategy.Suggestion{}, errors.New("every design that was tried has failed, and chance finds no other")
	}
	return starting(design), nil
}

func starting(design task.Design) strategy.Suggestion {
	return strategy.Suggestion{Design: design, Why: strategy.Why{Source: strategy.Initial}}
}

// latin returns the design of a trial, counted from 1, in the Latin hypercube of the seed. Every
// parameter has as many equal parts as there are starting designs, and each part contains one
// design. The numeric values of the first design are moved to the centre.
func (s Search) latin(trial uint64, seed strategy.Seed) task.Design {
	rng := seed.Stream("start", 1) // the stream of trial 1; with one starting design and no categories, latin and fresh draw the same design from it
	u := hypercube(s.space, int(s.initial), rng).RawRowView(int(trial - 1))
	for i, block := range s.space.Blocks() {
		if trial == 1 && s.centred && block.Kind != task.Categorical {
			u[i] = 0.5
		}
	}
	return s.space.Decode(acquisition.Place(s.space, u))
}

// hypercube returns points of a Latin hypercube, one per row, for acquisition.Place.
func hypercube(space *task.Space, count int, rng *rand.Rand) *mat.Dense {
	points := mat.NewDense(count, space.Len(), nil)
	samplemv.LatinHypercube{Q: distmv.NewUnitUniform(space.Len(), rng), Src: rng}.Sample(points)
	return points
}

// Latin returns the designs of a Latin hypercube: every parameter has as many equal parts as there are designs, and
// each part contains one design.
func Latin(space *task.Space, count int, rng *rand.Rand) (designs []task.Design) {
	points := hypercube(space, count, rng)
	for i := range count {
		designs = append(designs, space.Decode(acquisition.Place(space, points.RawRowView(i))))
	}
	return designs
}

// fresh draws a design uniformly among those not tried. If sampling finds none, the space is nearly
// exhausted. fresh then returns a tried design, if possible one that has not failed, and false. For
// listed designs it finds a design that was not tried whenever one exists.
func (s Search) fresh(view strategy.View, rng *rand.Rand) (task.Design, bool) {
	return s.freshWithin(view, rng, func([]float64) bool { return true })
}

func (s Search) freshWithin(view strategy.View, rng *rand.Rand, within func(x []float64) bool) (task.Design, bool) {
	tried, failed := s.tried(view), s.failed(view)
	if l := s.space.Listing(); l != nil && !l.Absent() {
		if design, ok := s.remaining(l, view, rng, within); ok {
			return design, true
		}
	}
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

// remaining draws one of the listed designs that satisfy within and were not tried. ok is false if
// there is none.
func (s Search) remaining(l *task.Listing, view strategy.View, rng *rand.Rand, within func(x []float64) bool) (task.Design, bool) {
	tried := map[int]bool{}
	for _, trial := range view.Trials {
		if i, ok := l.Index(trial.Design); ok {
			tried[i] = true
		}
	}
	var left []int
	x := make([]float64, s.space.Dim())
	for i := range l.Len() {
		if l.Encode(x, i); !tried[i] && within(x) {
			left = append(left, i)
		}
	}
	if len(left) == 0 {
		return task.Design{}, false
	}
	return l.Design(left[rng.IntN(len(left))]), true
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
