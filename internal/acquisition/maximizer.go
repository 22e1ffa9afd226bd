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
	// With discrete parameters there are fewer searches: so many that one round of neighbours for
	// all of them takes about this number of values, but at least one group.
	neighbourValues = 2048
)

// Maximizer searches for the maximum of a function over the designs of a space. It is a plain value
// and safe for concurrent use.
//
// It evaluates all designs of a space with at most 4096, and all designs of a list. In other spaces
// it evaluates the function at Candidates designs: a quasi-random sequence, and perturbations of
// the near designs. Local searches then start at the best candidate and at others, drawn with
// probabilities that grow with their values. The searches compete in groups of eight, and only the
// best of each group runs to its end. The Maximizer begins no further groups once enough groups
// have ended on the same hill and none on a higher one. Enough means 3 groups plus one per
// parameter, at most 8.
//
// The work is at most the sum of:
//
//   - Candidates + 5 values;
//   - for each search 20 gradients (plus up to 11 for each of three line searches), and the values
//     of all its neighbours three times;
//   - for one search in eight up to 1,200 gradients, and the values of its neighbours 20 times. It
//     usually takes a hundredth of that;
//   - at the end, with two or more discrete parameters, four times 2,048 values of designs that
//     differ in two of them, each time followed by one such search.
//
// The neighbours of a design differ from it in one discrete parameter. For a categorical parameter
// they have its other choices. For an int, or another parameter with a finite number of values,
// they have up to 2·log2(number of values)+2 of its other values.
type Maximizer struct {
	Space *task.Space

	// Candidates is the number of candidates, at least 1. 0 means 128 plus 64 for every parameter,
	// but at most 1024.
	Candidates int

	// Searches is the largest number of local searches, at least 1. 0 means 128. If a design has
	// more than 16 neighbours, 0 means fewer, but at least 8.
	Searches int

	// Workers is the number of goroutines that evaluate the function, at least 1. 0 means
	// GOMAXPROCS. The result does not depend on this number. With more than one worker, the
	// function must be safe for concurrent use.
	Workers int
}

// Maximize returns the best x found and f(x). x is the encoding of a design: Space.Snap leaves it
// unchanged. (As everywhere in the unit cube, a float is not rounded to the decimals that users
// see.) near holds encoded designs, best first, around which it searches too; it does not alter
// them. The result is no worse than the best candidate and the first five near designs, except if
// f's Value, Values and Gradient round differently. The result depends only on the arguments and
// rng.
//
// If ctx ends during the search, Maximize returns only the error of ctx. It checks ctx between
// chunks of 32 values and between the stages of a search. A stage takes at most 60 gradients and
// their line searches.
//
// Maximize panics if a field is negative, if a near design does not have the space's dimension, and
// if f panics.
func (m Maximizer) Maximize(ctx context.Context, f Function, near [][]float64, rng *rand.Rand) (x []float64, value float64, err error) {
	m.check()
	workers := m.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	f = overDesigns(m.Space, f)
	if count, write, ok := enumerable(m.Space); ok {
		x, value, err = enumerate(ctx, m.Space.Dim(), count, write, f, workers)
		if err == nil {
			m.Space.Snap(x)
		}
		return x, value, err
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
	winner.slide(ctx, f, rng)
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	x, value = winner.x(), f.Value(winner.x())
	start := all.row(all.best())
	if first := f.Value(start); finite(first) > finite(value) {
		x, value = start, first
	}
	x = slices.Clone(x)
	m.Space.Snap(x)
	return x, value, nil
}

func (m Maximizer) check() {
	for name, n := range map[string]int{"Candidates": m.Candidates, "Searches": m.Searches, "Workers": m.Workers} {
		if n < 0 {
			panic(fmt.Sprintf("acquisition: Maximizer.%s is %d; it must not be negative", name, n))
		}
	}
}

// effort returns the number of searches and the number of candidates.
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
