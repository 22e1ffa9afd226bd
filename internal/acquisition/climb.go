package acquisition

import (
	"context"

	"github.com/fbo-node/fbo/task"
)

// Climb runs a Maximizer's local search from x, the encoding of a design. It returns the design at
// which the search ends, in a new slice, and the value of f there. The search uses gradients for
// floats and neighbours for other parameters. Up to rounding, the result is no worse than x. If ctx
// ends first, Climb returns the best design so far.
func Climb(ctx context.Context, space *task.Space, f Function, x []float64) (top []float64, value float64) {
	f = overDesigns(space, f)
	s := newSearch(newNeighbours(space), x, finite(f.Value(x)))
	s.finish(ctx, f)
	space.Snap(s.x())
	return s.x(), s.value()
}

// betweenLooks is the number of gradients after which Ascend checks its context again.
const betweenLooks = 8

// Ascend climbs from x on the given coordinates of the unit cube, and does not alter x. It stops
// after about the given number of gradients, or when gradients find no better point. It returns the
// last point and the value of f there. If ctx ends first, it returns the best point so far.
//
// It is for functions of several designs of a space at once. x has their encodings, one after the
// other. So has the result, if x has feasible designs only and the coordinates are those of floats.
func Ascend(ctx context.Context, space *task.Space, f Function, x []float64, coordinates []int, gradients int) (top []float64, value float64) {
	f = overDesigns(space, f)
	a := newAscent(coordinates, len(x))
	a.start(x, finite(f.Value(x)))
	for ; gradients > 0 && !a.settled && ctx.Err() == nil; gradients -= betweenLooks {
		a.climb(f, min(gradients, betweenLooks))
	}
	if s, ok := f.(settled); ok {
		s.settle(a.x)
	}
	return a.x, a.value
}
