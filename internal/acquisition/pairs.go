package acquisition

import (
	"context"
	"math/rand/v2"
)

// Limits of the moves in two discrete parameters at once. Only the best of all searches tries such
// moves, after it has ended.
const (
	pairRounds = 4
	pairValues = 2048 // largest number of values per round
)

// pair holds the indices of two discrete parameters.
type pair struct{ one, other int }

// escape tries to leave a design that no single neighbour improves. It changes two parameters at
// once, and continues the search from a better design if it finds one.
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

// improveByPair makes the first move in two parameters that improves the search, and reports
// whether it found one. first is memory for the moves in one parameter.
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
