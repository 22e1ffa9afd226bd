package acquisition

import (
	"context"

	"github.com/fbo-node/fbo/task"
)

// Climb returns where the local search of a Maximizer from x leads, and f there: on the
// floats by gradients, on other parameters by neighbours. x is the encoding of a design,
// and is not altered; the result is another one, no worse but for rounding. When ctx
// ends before, Climb returns the best so far.
func Climb(ctx context.Context, space *task.Space, f Function, x []float64) (top []float64, value float64) {
	s := newSearch(newNeighbours(space), x, finite(f.Value(x)))
	s.finish(ctx, f)
	return s.x(), s.value()
}

// betweenLooks is after how many gradients Ascend looks at its context.
const betweenLooks = 8

// Ascend climbs from x, which is not altered, on some coordinates of the unit cube, for
// about the given number of gradients, or to where they lead no further. It returns where
// that is, and f there. When ctx ends before, it returns the best so far.
//
// It is for functions of several designs at once, whose coordinates belong to no one space.
func Ascend(ctx context.Context, f Function, x []float64, coordinates []int, gradients int) (top []float64, value float64) {
	a := newAscent(coordinates, len(x))
	a.start(x, finite(f.Value(x)))
	for ; gradients > 0 && !a.settled && ctx.Err() == nil; gradients -= betweenLooks {
		a.climb(f, min(gradients, betweenLooks))
	}
	return a.x, a.value
}
