package acquisition

import (
	"context"
	"math"
)

// search is one local search. It owns all memory that it needs.
type search struct {
	moves   *neighbours
	ascent  *ascent
	scratch *points // room for the neighbours in one parameter
	done    bool
}

func newSearch(moves *neighbours, x []float64, value float64) *search {
	s := &search{moves: moves, ascent: newAscent(moves.floats, len(x)), scratch: newPoints(moves.most, len(x))}
	s.ascent.start(x, value)
	return s
}

func (s *search) x() []float64   { return s.ascent.x }
func (s *search) value() float64 { return s.ascent.value }

// advance climbs on the floats with about the given number of gradients. Then it tries the
// neighbours in every discrete parameter once.
func (s *search) advance(ctx context.Context, f Function, gradients int) {
	s.ascent.climb(f, gradients)
	moved := false
	for _, parameter := range s.moves.discrete {
		moved = s.improve(ctx, f, s.moves.alternatives(s.scratch, parameter, s.x())) || moved
	}
	s.done = s.ascent.settled && !moved
}

// finish continues until neither gradients nor neighbours improve the search, until lastRounds
// rounds, or until ctx ends.
func (s *search) finish(ctx context.Context, f Function) {
	for range lastRounds {
		if s.done || ctx.Err() != nil {
			return
		}
		s.advance(ctx, f, lastGradients)
	}
}

// improve moves to the best of the first count points in s.scratch, if it is better than x.
func (s *search) improve(ctx context.Context, f Function, count int) bool {
	tried := s.scratch.first(count)
	tried.score(ctx, f, 1)
	best := tried.best()
	if count == 0 || !(tried.values[best] > s.value()) {
		return false
	}
	s.ascent.start(tried.row(best), tried.values[best])
	return true
}

// distance returns the largest difference between both searches in one coordinate.
func (s *search) distance(other *search) float64 {
	largest := 0.0
	for i, u := range s.x() {
		largest = max(largest, math.Abs(u-other.x()[i]))
	}
	return largest
}
