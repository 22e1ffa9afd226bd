package acquisition

import (
	"context"
	"math"
	"slices"

	"github.com/fbo-node/fbo/task"
)

const (
	enumerable = 4096 // designs: a finite space up to this size is searched whole
	together   = 512  // designs held in memory at once
)

// enumerate evaluates all count designs of a finite space. Its error is that of ctx.
func enumerate(ctx context.Context, space *task.Space, count int, f Function, workers int) (x []float64, value float64, err error) {
	moves := newNeighbours(space)
	all := newPoints(min(count, together), space.Dim())
	highest := math.Inf(-1)
	for from := 0; from < count; from += together {
		part := all.first(min(together, count-from))
		for i := range part.values {
			moves.write(part.row(i), from+i)
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

// write sets x to the design with this number, in mixed radix.
func (n *neighbours) write(x []float64, number int) {
	for i, block := range n.blocks {
		count := int(block.Count)
		if block.Kind == task.Categorical {
			part := x[block.Start : block.Start+block.Len]
			clear(part)
			part[number%count] = 1
		} else {
			x[block.Start] = n.space.Place(i, int64(number%count))
		}
		number /= count
	}
}
