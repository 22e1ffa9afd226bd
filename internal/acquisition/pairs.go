package acquisition

import (
	"context"
	"math/rand/v2"
)

// Limits of the moves of two discrete parameters at once. Only the best search of all tries them,
// after it has ended.
const (
	pairRounds = 4
	pairValues = 2048 // per round
)

// pair holds the indices of two discrete parameters.
type pair struct{ one, other int }

// escape tries to leave a design that no single neighbour improves, by moves in two parameters at
// once, and continues the search from there.
func (s *search) escape(ctx context.Context, f Function, rng *rand.Rand) {
	pairs := s.moves.pairs()
	if len(pairs) == 0 {
		return
	}
	first := newPoints(s.moves.most, len(s.x()))
	for range pairRounds {
		rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		if !s.improveByPair(ctx, f, pairs, first) {
			return
		}
		s.done = false
		s.finish(ctx, f)
	}
}

// improveByPair makes the first move of two parameters that improves the search. first is memory
// for the moves of one parameter.
func (s *search) improveByPair(ctx context.Context, f Function, pairs []pair, first *points) bool {
	tried := 0
	for _, p := range pairs {
		for i := range s.moves.alternatives(first, p.one, s.x()) {
			count := s.moves.alternatives(s.scratch, p.other, first.row(i))
			if s.improve(ctx, f, count) {
				return true
			}
			if tried += count; tried >= pairValues {
				return false
			}
		}
	}
	return false
}

func (n *neighbours) pairs() []pair {
	var all []pair
	for i, one := range n.discrete {
		for _, other := range n.discrete[:i] {
			all = append(all, pair{one, other})
		}
	}
	return all
}
