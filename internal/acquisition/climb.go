package acquisition

import (
	"context"

	"github.com/fbo-node/fbo/task"
)

// Climb returns the end of a Maximizer's local search from x, and the value of f there. The search
// uses gradients for floats and neighbours for other parameters. x is the encoding of a design and
// is not altered. The result is another one, no worse except by rounding. If ctx ends before, Climb
// returns the best so far.
func Climb(ctx context.Context, space *task.Space, f Function, x []float64) (top []float64, value float64) {
	s := newSearch(newNeighbours(space), x, finite(f.Value(x)))
	s.finish(ctx, f)
	return s.x(), s.value()
}

// betweenLooks is the number of gradients between Ascend's checks of its context.
const betweenLooks = 8

// Ascend climbs from x, which is not altered, on some coordinates of the unit cube. It stops after
// about the given number of gradients, or when they lead no further. It returns the last point and
// the value of f there. If ctx ends before, it returns the best so far.
//
// It is for functions of several designs at once, whose coordinates do not belong to one space.
func Ascend(ctx context.Context, f Function, x []float64, coordinates []int, gradients int) (top []float64, value float64) {
	a := newAscent(coordinates, len(x))
	a.start(x, finite(f.Value(x)))
	for ; gradients > 0 && !a.settled && ctx.Err() == nil; gradients -= betweenLooks {
		a.climb(f, min(gradients, betweenLooks))
	}
	return a.x, a.value
}
