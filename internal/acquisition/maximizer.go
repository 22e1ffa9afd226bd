package acquisition

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// Defaults for zero fields of a Maximizer.
const (
	defaultSearches        = 128
	minCandidates          = 128
	candidatesPerParameter = 64
	maxCandidates          = 1024
	// With discrete parameters there are fewer searches: one round of neighbours for all of them
	// takes about this number of values, but there is at least one group.
	neighbourValues = 2048
)

// Maximizer searches the designs of a space. It is a plain value, safe for concurrent use.
//
// It enumerates a space of at most 4096 designs, and a list of any length. Otherwise it evaluates
// the function at Candidates designs: a quasi-random sequence and perturbations of near ones. Local
// searches climb from the best candidate and from others, which are drawn with probabilities that
// grow with their values. They compete in groups of eight; the best of each group is followed to
// its end. When enough groups have ended on the same hill and none on a higher one, the rest is not
// begun. Enough are 3 and one more per parameter, at most 8.
//
// The work is at most the sum of
//
//   - Candidates + 5 values;
//   - for each search 20 gradients (each of three line searches may add 11) and the values of all
//     its neighbours three times;
//   - for one search in eight up to 1,200 gradients and the neighbours 20 times, of which it
//     usually takes a hundredth;
//   - in the end, with two or more discrete parameters, four times 2,048 values of designs that
//     differ in two of them, each time with one such search.
//
// Neighbours are the other choices of a categorical, and up to 2·log2(count)+2 of the values of an
// int or of another parameter with finitely many numbers.
type Maximizer struct {
	Space *task.Space

	// Candidates is at least 1. 0 means 128, and 64 more for every parameter, but at most 1024.
	Candidates int

	// Searches is the largest number of local searches, at least 1. 0 means 128; fewer, but not
	// below 8, if a design has more than 16 neighbours.
	Searches int

	// Workers is the number of goroutines that evaluate the function, at least 1. 0 means
	// GOMAXPROCS. The result is the same for any number. Unless it is 1, the function must be safe
	// for concurrent use.
	Workers int
}

// Maximize returns the best x found and f(x). x is the encoding of a design: Space.Snap leaves it
// unchanged. (As everywhere in the unit cube, a float is not rounded to the decimals in which
// designs are shown.) near holds encoded designs, best first, around which it searches as well;
// they are not altered. The result is no worse than the best candidate and the first five near
// designs, except by rounding where f's Value, Values and Gradient round differently. It depends
// only on the arguments and rng.
//
// If ctx ends before the search, Maximize returns only the error of ctx. It checks ctx between
// chunks of 32 values and between the stages of a search, each of which takes at most 60 gradients
// and their line searches.
//
// Maximize panics if a field is negative, if a near design does not have the space's dimension, and
// if f panics.
func (m Maximizer) Maximize(ctx context.Context, f Function, near [][]float64, rng *rand.Rand) (x []float64, value float64, err error) {
	m.check()
	workers := m.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if count, write, ok := enumerable(m.Space); ok {
		return enumerate(ctx, m.Space.Dim(), count, write, f, workers)
	}
	moves := newNeighbours(m.Space)
	searchCount, candidateCount := m.effort(moves)
	all, around := candidates(m.Space, candidateCount, near, rng)
	all.score(ctx, f, workers)
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	t := tournament{f, moves, all, starts(all, around, searchCount, rng)}
	winner, err := t.run(ctx, workers)
	if err != nil {
		return nil, 0, err
	}
	winner.escape(ctx, f, rng)
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	x, value = winner.x(), f.Value(winner.x())
	start := all.row(all.best())
	if first := f.Value(start); finite(first) > finite(value) {
		x, value = start, first
	}
	return slices.Clone(x), value, nil
}

func (m Maximizer) check() {
	for name, n := range map[string]int{"Candidates": m.Candidates, "Searches": m.Searches, "Workers": m.Workers} {
		if n < 0 {
			panic(fmt.Sprintf("acquisition: Maximizer.%s is %d; it must not be negative", name, n))
		}
	}
}

// effort returns the numbers of searches and candidates.
func (m Maximizer) effort(moves *neighbours) (searches, candidates int) {
	searches = defaultSearches
	candidates = min(minCandidates+candidatesPerParameter*m.Space.Len(), maxCandidates)
	if moves.total > 0 {
		searches = min(searches, max(neighbourValues/moves.total, groupSize))
	}
	if m.Searches > 0 {
		searches = m.Searches
	}
	if m.Candidates > 0 {
		candidates = m.Candidates
	}
	return searches, candidates
}
