package acquisition

import (
	"context"
	"math"
	"slices"

	"github.com/fbo-node/fbo/task"
)

const (
	maxEnumerated = 4096 // largest finite space of which all designs are evaluated
	together      = 512  // number of designs in memory at a time
)

// enumerable returns the number of designs, and a function that writes the design with a given
// number to x. ok reports whether to evaluate all designs: they are listed, or at most
// maxEnumerated.
func enumerable(space *task.Space) (count int, write func(x []float64, number int), ok bool) {
	if l := space.Listing(); l != nil && !l.Absent() {
		return l.Len(), l.Encode, true
	}
	count, ok = space.Finite()
	return count, space.Combination, ok && count <= maxEnumerated
}

// enumerate evaluates all count designs of a finite space and returns the best. Its only error is
// that of ctx.
func enumerate(ctx context.Context, dim, count int, write func(x []float64, number int), f Function, workers int) (x []float64, value float64, err error) {
	all := newPoints(min(count, together), dim)
	highest := math.Inf(-1)
	for from := 0; from < count; from += together {
		part := all.first(min(together, count-from))
		for i := range part.values {
			write(part.row(i), from+i)
		}
		part.score(ctx, f, workers)
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if best := part.best(); x == nil || part.values[best] > highest {
			x, highest = slices.Clone(part.row(best)), part.values[best]
		}
	}
	return x, f.Value(x), nil
}
