package acquisition

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/task"
)

// settled is a function over one or more designs of a space with conditions or constraints among
// parameters, whose encodings follow each other. At any point it has the value of f at the settled
// point (task.Space.Settle), and -Inf if a design is infeasible. It does not change along the
// coordinates of inactive parameters.
type settled struct {
	f      Function
	space  *task.Space
	memory *scratch
}

var (
	_ Function = settled{}
	_ Batch    = settled{}
)

// isDependent reports whether parameters of the space depend on each other.
func isDependent(space *task.Space) bool {
	return space.Listing() == nil && (space.Conditional() || space.ParameterConstraints() != nil)
}

// overDesigns returns f, or f settled if the space needs it.
func overDesigns(space *task.Space, f Function) Function {
	if !isDependent(space) {
		return f
	}
	return settled{f, space, &scratch{}}
}

// Value implements Function.
func (s settled) Value(x []float64) float64 {
	held := s.memory.take(len(x))
	defer s.memory.put(held)
	copy(*held, x)
	if !s.settle(*held) {
		return math.Inf(-1)
	}
	return s.f.Value(*held)
}

// settle settles each design of x and reports whether all are feasible.
func (s settled) settle(x []float64) (feasible bool) {
	feasible = true
	for design := range slices.Chunk(x, s.space.Dim()) {
		feasible = s.space.Settle(design) && feasible
	}
	return feasible
}

// Values implements Batch. Each point has one design.
func (s settled) Values(dst, points []float64) {
	held := s.memory.take(len(points))
	defer s.memory.put(held)
	copy(*held, points)
	feasible := make([]bool, len(dst))
	for i := range dst {
		feasible[i] = s.space.Settle(rowOf(*held, len(dst), i))
	}
	evaluate(s.f, dst, *held)
	for i, ok := range feasible {
		if !ok {
			dst[i] = math.Inf(-1)
		}
	}
}

// Gradient implements Function.
func (s settled) Gradient(grad, x []float64) float64 {
	held := s.memory.take(len(x))
	defer s.memory.put(held)
	copy(*held, x)
	if !s.settle(*held) {
		clear(grad)
		return math.Inf(-1)
	}
	value := s.f.Gradient(grad, *held)
	if !s.space.Conditional() {
		return value
	}
	active, blocks := make([]bool, s.space.Len()), s.space.Blocks()
	for start := 0; start < len(grad); start += s.space.Dim() {
		s.space.Active(active, (*held)[start:start+s.space.Dim()])
		for i, block := range blocks {
			if !active[i] {
				clear(grad[start+block.Start : start+block.Start+block.Len])
			}
		}
	}
	return value
}

// Limits of the search along the edge of the feasible part.
const (
	slideMoves  = 48   // random moves per step size
	widestSlide = 0.1  // first step size
	finestSlide = 1e-4 // last one
)

// slide searches along the edge of the feasible part, where gradients end, with random moves that
// Snap repairs. The step size halves whenever no move improves the search.
func (s *search) slide(ctx context.Context, f Function, rng *rand.Rand) {
	space := s.moves.space
	if len(space.ParameterConstraints()) == 0 {
		return
	}
	moves := newPoints(slideMoves, space.Dim())
	for scale := widestSlide; scale > finestSlide && ctx.Err() == nil; {
		for i := range slideMoves {
			x := moves.row(i)
			copy(x, s.x())
			for _, k := range s.moves.floats {
				x[k] += scale * rng.NormFloat64()
			}
			space.Snap(x)
		}
		moves.score(ctx, f, 1)
		if best := moves.best(); moves.values[best] > s.value() {
			s.ascent.start(moves.row(best), moves.values[best])
		} else {
			scale /= 2
		}
	}
}
